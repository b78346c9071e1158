/** Fixes from the service: for an error, or for a query whose result the row limit would cut. */

import type { Fix } from '../tap/estimateClient';
import { text } from '../text';

/** Longer texts are not shown on a button. */
const MAX_LABEL = 40;

/** A change of a text in UTF-16 units, the editor's own. */
export interface TextChange {
    readonly from: number;
    readonly to: number;
    readonly insert: string;
}

/** Convert fixes of the query that begins at `offset` into changes of the tab's text. */
export function changesOf(adql: string, fixes: readonly Fix[], offset = 0): TextChange[] {
    const query = adql.slice(offset);
    return fixes.map(({ start, end, text }) => ({
        from: offset + unitsOf(query, start),
        to: offset + unitsOf(query, end),
        insert: text,
    }));
}

/** Return the text with the changes applied. */
export function applyFixes(adql: string, changes: readonly TextChange[]): string {
    return changes.reduceRight((text, { from, to, insert }) => text.slice(0, from) + insert + text.slice(to), adql);
}

/** Return the smallest single change that turns one text into another; undefined if they are equal. */
export function differenceOf(one: string, other: string): TextChange | undefined {
    if (one === other) return undefined;
    const shorter = Math.min(one.length, other.length);
    let from = 0;
    while (from < shorter && one[from] === other[from]) from += 1;
    let end = 0;
    while (end < shorter - from && one.at(-1 - end) === other.at(-1 - end)) end += 1;
    return { from, to: one.length - end, insert: other.slice(from, other.length - end) };
}

/** Return the label of the button that applies the fixes. */
export function fixLabel(adql: string, fixes: readonly Fix[]): string {
    const texts = text.editor.fix;
    const [change, ...others] = changesOf(adql, fixes);
    if (!change || others.length > 0) return texts.all;
    const [inserted, removed] = [change.insert.trim(), adql.slice(change.from, change.to).trim()];
    if (Math.max(inserted.length, removed.length) > MAX_LABEL) return texts.all;
    return inserted ? texts.to(inserted) : texts.remove(removed);
}

/** The service counts code points, the editor UTF-16 units. */
function unitsOf(query: string, points: number): number {
    let at = 0;
    for (let left = points; left > 0 && at < query.length; left -= 1) at += query.codePointAt(at)! > 0xffff ? 2 : 1;
    return at;
}
