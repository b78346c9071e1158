/** Replacements that the service knows: of a fault, or of a query whose result the row limit would cut. */

import type { Fix } from '../tap/queryEstimate';
import { text } from '../text';

/** Longer ones are not shown on a button. */
const MAX_LABEL = 40;

/** A change of a text, in UTF-16 units as the editor counts. */
export interface TextChange {
    readonly from: number;
    readonly to: number;
    readonly insert: string;
}

/** What the replacements change of the query that begins at `offset` of the tab's text. */
export function changesOf(adql: string, fixes: readonly Fix[], offset = 0): TextChange[] {
    const query = adql.slice(offset);
    return fixes.map(({ start, end, text }) => ({
        from: offset + unitsOf(query, start),
        to: offset + unitsOf(query, end),
        insert: text,
    }));
}

/** The text with the changes. */
export function applyFixes(adql: string, changes: readonly TextChange[]): string {
    return changes.reduceRight((text, { from, to, insert }) => text.slice(0, from) + insert + text.slice(to), adql);
}

/** What a button says that makes the replacements. */
export function fixLabel(adql: string, fixes: readonly Fix[]): string {
    const said = text.editor.fix;
    const [change, ...others] = changesOf(adql, fixes);
    if (!change || others.length > 0) return said.all;
    const [inserted, removed] = [change.insert.trim(), adql.slice(change.from, change.to).trim()];
    if (Math.max(inserted.length, removed.length) > MAX_LABEL) return said.all;
    return inserted ? said.to(inserted) : said.remove(removed);
}

/** The service counts code points; the editor counts UTF-16 units. */
function unitsOf(query: string, points: number): number {
    let at = 0;
    for (let left = points; left > 0 && at < query.length; left -= 1) at += query.codePointAt(at)! > 0xffff ? 2 : 1;
    return at;
}
