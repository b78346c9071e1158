/**
 * The texts that the portal shows, by area: to translate the portal, translate this folder. Areas that only parts loaded
 * later show are not here, so that the first page does not load them.
 */

import { account } from './accountTexts';
import { builder } from './builderTexts';
import { common } from './commonTexts';
import { editor } from './editorTexts';
import { home } from './homeTexts';
import { jobs } from './jobTexts';
import { results } from './resultTexts';
import { samp } from './sampTexts';
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
    builder,
    common,
    editor,
    home,
    jobs,
    results,
    samp,
    signIn,
    tables,
    uploads,
    watches,
} as const;
