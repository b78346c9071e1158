/** The ways to rows that a row limit cuts off: a higher limit, or a sample of rows from everywhere. */

import type { Estimate, Fix } from '../tap/queryEstimate';
import { count, text } from '../text';

export interface LimitWays {
    /** a limit that lets all rows through, or the highest there is */
    readonly raise?: { readonly maxrec: number; readonly label: string };
    /** what makes the query one of a sample */
    readonly sample?: { readonly fix: Fix; readonly label: string };
}

/** How many more rows there may be than are foreseen, where they are not counted. */
const MARGIN = 1.25;

/** What can be done about the row limit of the query that this is the estimate of. */
export function limitWaysOf({ result, maxrec }: Estimate): LimitWays {
    const said = text.editor.cut;
    const { rows, precision, limit, order, sample } = result;
    const wanted = rows === null ? maxrec.hard : precision === 'about' ? Math.ceil(rows * MARGIN) : rows;
    const most = Math.min(wanted, maxrec.hard);
    const all = precision === 'exact' && most === rows;
    const percent = sample && /\(([^)]+)\)/.exec(sample.text)?.[1];
    return {
        ...(most > limit && { raise: { maxrec: most, label: all ? said.all(count(most)) : said.upTo(count(most)) } }),
        ...(sample && percent && { sample: { fix: sample, label: said.sample(percent, order === 'sky') } }),
    };
}

/** What the row limit has cut off a result of so many rows, in words. */
export function describeCut({ rows, precision, order }: Estimate['result'], given: number): string {
    const said = text.editor.cut;
    const known = rows !== null && precision !== 'at most' && rows > given;
    const whole = known ? `${precision === 'about' ? said.about : ''}${count(rows)}` : undefined;
    const cut = whole === undefined ? said.off(count(given)) : said.offOf(count(given), whole);
    return order ? `${cut} ${said.missed[order]}` : cut;
}

/** What the row limit will cut, in words; '' if that is not foreseen. */
export function describeExpectedCut({ rows, precision, limit, order, warning }: Estimate['result']): string {
    if (!warning || rows === null) return '';
    const said = text.editor.cut;
    const cut =
        precision === 'exact' ? said.foreseen(count(rows), count(limit)) : said.likely(count(rows), count(limit));
    return order ? `${cut} ${said.missing[order]}` : cut;
}
