/** Every text that the portal shows, by area: to translate the portal, translate this folder. */

import { account } from './accountTexts';
import { admin } from './adminTexts';
import { builder } from './builderTexts';
import { columns } from './columnTexts';
import { common } from './commonTexts';
import { editor } from './editorTexts';
import { explore } from './exploreTexts';
import { home } from './homeTexts';
import { jobs } from './jobTexts';
import { object } from './objectTexts';
import { plots } from './plotTexts';
import { results } from './resultTexts';
import { samp } from './sampTexts';
import { shares } from './shareTexts';
import { signIn } from './signInTexts';
import { tables } from './tableTexts';
import { uploads } from './uploadTexts';
import { watches } from './watchTexts';

export {
    formatCount as count,
    formatCounted as counted,
    formatDuration as duration,
    formatBytes as size,
} from './numberFormat';

export const text = {
    account,
    admin,
    builder,
    columns,
    common,
    editor,
    explore,
    home,
    jobs,
    object,
    plots,
    results,
    samp,
    shares,
    signIn,
    tables,
    uploads,
    watches,
} as const;
