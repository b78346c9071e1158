/** Colours of points by a column: a ramp for numbers, one colour each for a few kinds (bands, classes). */

import type { Field, Table } from '../../model/resultModel';
import { KIND_COUNT } from '../../canvas/colourRamps';
import type { Points } from './plotPoints';

/** The row of each point. */
type PointRows = Pick<Points, 'rows' | 'count'>;

export type Shades =
    | {
          readonly type: 'values';
          readonly points: Uint8Array;
          readonly range: readonly [number, number];
      }
    | {
          readonly type: 'kinds';
          readonly points: Uint8Array;
          /** most frequent first; '' is NULL; other kinds share the next shade */
          readonly names: readonly string[];
          readonly others: boolean;
      };

/** Share of values at each end that may be outside the ramp, so that outliers do not flatten it. */
const TAIL = 0.005;

/** Return shades for numbers by row. Points without a finite value get the first shade; see `withValue`. */
export function valueShades(points: PointRows, values: Float64Array): Shades {
    const range = shadeRange(points, values);
    const shades = new Uint8Array(points.count);
    const scale = 255 / (range[1] - range[0] || 1);
    for (let k = 0; k < points.count; k++) {
        const shade = Math.round((values[points.rows[k]!]! - range[0]) * scale);
        shades[k] = shade < 0 ? 0 : shade > 255 ? 255 : shade;
    }
    return { type: 'values', points: shades, range };
}

/** Keep the points with a finite value; count the others as missing. */
export function withValue(points: Points, values: Float64Array): Points {
    const kept = new Uint32Array(points.count);
    let count = 0;
    for (let k = 0; k < points.count; k++) if (Number.isFinite(values[points.rows[k]!])) kept[count++] = k;
    if (count === points.count) return points;
    const taken = kept.subarray(0, count);
    return {
        ...points,
        rows: Uint32Array.from(taken, (k) => points.rows[k]!),
        u: Float64Array.from(taken, (k) => points.u[k]!),
        v: Float64Array.from(taken, (k) => points.v[k]!),
        count,
        missing: points.missing + points.count - count,
    };
}

function shadeRange(points: PointRows, values: Float64Array): [number, number] {
    const stride = Math.max(1, Math.floor(points.count / 50_000));
    const sample = new Float64Array(Math.ceil(points.count / stride));
    for (let k = 0; k < sample.length; k++) sample[k] = values[points.rows[k * stride]!]!;
    sample.sort();
    const at = (part: number) => sample[Math.round(part * (sample.length - 1))] ?? 0;
    const [low, high] = [at(TAIL), at(1 - TAIL)];
    return high > low ? [low, high] : [at(0), at(1)];
}

/** The kind of every row as a number, and the names of the kinds. */
export interface Codes {
    readonly codes: Uint16Array;
    readonly names: readonly string[];
}

/** Return shades for kinds; the most frequent get their own colours. */
export function kindShades(points: PointRows, { codes, names }: Codes): Shades {
    const counts = new Float64Array(names.length);
    for (let k = 0; k < points.count; k++) counts[codes[points.rows[k]!]!]!++;
    const byCount = [...names.keys()].filter((code) => counts[code]! > 0).sort((a, b) => counts[b]! - counts[a]!);
    const own = byCount.slice(0, KIND_COUNT);
    const shadeOf = new Uint8Array(names.length).fill(KIND_COUNT);
    own.forEach((code, shade) => (shadeOf[code] = shade));
    const shades = new Uint8Array(points.count);
    for (let k = 0; k < points.count; k++) shades[k] = shadeOf[codes[points.rows[k]!]!]!;
    const others = byCount.length > own.length;
    return { type: 'kinds', points: shades, names: own.map((code) => names[code]!), others };
}

/** Return codes for a column of few different integers; undefined for other columns. */
export function numberCodes(values: Float64Array): Codes | undefined {
    const found = new Map<number, number>();
    const codes = new Uint16Array(values.length);
    for (let row = 0; row < values.length; row++) {
        const value = values[row]!;
        if (Number.isFinite(value) && !Number.isInteger(value)) return undefined;
        let code = found.get(value);
        if (code === undefined) {
            if (found.size >= KIND_COUNT) return undefined;
            found.set(value, (code = found.size));
        }
        codes[row] = code;
    }
    return { codes, names: [...found.keys()].map((value) => (Number.isNaN(value) ? '' : String(value))) };
}

const PAGE_ROWS = 25_000;
const MAX_NAMES = 65_535;

/** Return codes for a column of text, read from the rows shown. */
export async function textCodes(table: Table, column: number): Promise<Codes> {
    const codes = new Uint16Array(table.rows);
    const found = new Map<string, number>();
    const total = table.shown;
    for (let from = 0; from < total; from += PAGE_ROWS) {
        const { rows, cells } = await table.readPage(from, Math.min(total, from + PAGE_ROWS), [column]);
        rows.forEach((row, k) => {
            const name = String(cells[k]?.[0] ?? '');
            let code = found.get(name);
            if (code === undefined) found.set(name, (code = Math.min(found.size, MAX_NAMES)));
            codes[row] = code;
        });
    }
    return { codes, names: [...found.keys()] };
}

/** Name booleans, whose codes are 0 and 1. */
export function namedCodes(field: Field, codes: Codes | undefined): Codes | undefined {
    if (field.kind !== 'boolean' || !codes) return codes;
    return { codes: codes.codes, names: codes.names.map((name) => ({ '0': 'false', '1': 'true' })[name] ?? name) };
}
