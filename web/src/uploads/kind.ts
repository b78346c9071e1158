import type { Field } from '../results/model';

/** How values of a VOTable type are shown. */
export function kindOf(datatype: string, arraysize = '', xtype = ''): Field['kind'] {
    if (xtype === 'timestamp') return 'time';
    if (datatype === 'char' || datatype === 'unicodeChar') return 'text';
    if (arraysize && arraysize !== '1') return 'array';
    return datatype === 'boolean' ? 'boolean' : 'number';
}
