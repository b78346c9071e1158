/** How values of a VOTable type are shown, sorted and plotted. */

import type { Field } from './resultModel';

export function kindOf(datatype: string, arraysize = '', xtype = ''): Field['kind'] {
    if (datatype === 'char' || datatype === 'unicodeChar') return xtype === 'timestamp' ? 'time' : 'text';
    if (arraysize && arraysize !== '1') return 'array';
    return datatype === 'boolean' ? 'boolean' : 'number';
}
