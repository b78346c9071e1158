/** Ways around a row limit that cuts the result: a higher limit or a sample. */

import type { Estimate, Fix } from '../tap/estimateClient';
import { count, text } from '../text';

export interface LimitWays {
    /** a limit that lets all rows through, or the hard limit */
    readonly raise?: { readonly maxrec: number; readonly label: string };
    /** the fix that turns the query into a sample */
    readonly sample?: { readonly fix: Fix; readonly label: string };
}

/** Safety factor on estimated row counts. */
const MARGIN = 1.25;

/** Return the ways around the row limit of the estimated query. */
export function limitWaysOf({ result, maxrec }: Estimate): LimitWays {
    const texts = text.editor.cut;
    const { rows, precision, limit, order, sample } = result;
    const wanted = rows === null ? maxrec.hard : precision === 'about' ? Math.ceil(rows * MARGIN) : rows;
    const most = Math.min(wanted, maxrec.hard);
    const all = precision === 'exact' && most === rows;
    const percent = sample && /\(([^)]+)\)/.exec(sample.text)?.[1];
    return {
        ...(most > limit && { raise: { maxrec: most, label: all ? texts.all(count(most)) : texts.upTo(count(most)) } }),
        ...(sample && percent && { sample: { fix: sample, label: texts.sample(percent, order === 'sky') } }),
    };
}

/** Describe what the row limit has cut from a result of `given` rows. */
export function describeCut({ rows, precision, order }: Estimate['result'], given: number): string {
    const texts = text.editor.cut;
    const known = rows !== null && precision !== 'at most' && rows > given;
    const whole = known ? `${precision === 'about' ? texts.about : ''}${count(rows)}` : undefined;
    const cut = whole === undefined ? texts.off(count(given)) : texts.offOf(count(given), whole);
    return order ? `${cut} ${texts.missed[order]}` : cut;
}

/** Describe what the row limit will cut; '' if nothing is expected. */
export function describeExpectedCut({ rows, precision, limit, order, warning }: Estimate['result']): string {
    if (!warning || rows === null) return '';
    const texts = text.editor.cut;
    const cut =
        precision === 'exact' ? texts.foreseen(count(rows), count(limit)) : texts.likely(count(rows), count(limit));
    return order ? `${cut} ${texts.missing[order]}` : cut;
}
