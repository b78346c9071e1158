/** Counts the values of columns, each among the rows that pass the filters of the other columns. */

import { isNull, textReader } from '../model/columnParts';
import type { ColumnStore } from '../model/columnStore';
import type { Facet, Filter } from '../model/resultModel';
import { unmarkFailing } from './rowFilter';

/** More different texts are not listed. */
const MAX_VALUES = 1000;
/** Columns of numbers with more different values are counted in bins. */
export const MAX_NUMBERS = 24;
export const BINS = 48;

/** A column's values as small numbers, one per row; 0 is NULL or NaN, for bins also an infinity. */
interface Codes {
    readonly codes: Uint16Array;
    /** rows of each code */
    readonly all: Uint32Array;
    /** what the codes from 1 on mean; undefined: more than can be listed */
    readonly meaning: readonly string[] | { readonly min: number; readonly max: number } | undefined;
}

export class FacetCounter {
    readonly #store: ColumnStore;
    #known = new Map<number, { readonly field: object; readonly rows: number; readonly codes: Codes }>();

    constructor(store: ColumnStore) {
        this.#store = store;
    }

    countFacets(columns: readonly number[], filters: readonly Filter[]): Facet[] {
        const failing = findFailing(this.#store, filters);
        return columns.map((column) =>
            makeFacet(this.#codesOf(column), countPassing(this.#codesOf(column), column, failing)),
        );
    }

    /** The codes are valid as long as the column and its rows do not change. */
    #codesOf(column: number): Codes {
        const [field, rows] = [this.#store.fields[column]!, this.#store.rows];
        const known = this.#known.get(column);
        if (known?.field === field && known.rows === rows) return known.codes;
        const isText = field.kind === 'text' || field.kind === 'array';
        const codes = isText ? codeTexts(this.#store, column) : codeNumbers(this.#store, column);
        this.#known.set(column, { field, rows, codes });
        return codes;
    }
}

interface Failing {
    /** per row: 0 if it passes all filters, 1 if it fails the filters of one column, 2 if of several */
    readonly counts: Uint8Array;
    /** the column whose filters a row fails */
    readonly columns: Int32Array;
}

function findFailing(store: ColumnStore, filters: readonly Filter[]): Failing {
    const [counts, columns] = [new Uint8Array(store.rows), new Int32Array(store.rows)];
    for (const column of new Set(filters.map((filter) => filter.column))) {
        const marks = new Uint8Array(store.rows).fill(1);
        for (const filter of filters) if (filter.column === column) unmarkFailing(store, filter, marks);
        for (let row = 0; row < marks.length; row++) {
            if (marks[row]) continue;
            counts[row] = Math.min(2, counts[row]! + 1);
            columns[row] = column;
        }
    }
    return { counts, columns };
}

function countPassing({ codes, all }: Codes, column: number, failing: Failing): Uint32Array {
    const passing = new Uint32Array(all.length);
    const { counts, columns } = failing;
    for (let row = 0; row < codes.length; row++) {
        const failed = counts[row]!;
        if (failed === 0 || (failed === 1 && columns[row] === column)) passing[codes[row]!]!++;
    }
    return passing;
}

function makeFacet({ meaning, all }: Codes, passing: Uint32Array): Facet {
    if (!meaning) return { type: 'many' };
    if (!('min' in meaning)) {
        const values = meaning.map((value, at) => ({ value, all: all[at + 1]!, passing: passing[at + 1]! }));
        const missing = { value: null, all: all[0]!, passing: passing[0]! };
        const sorted = values.toSorted((one, other) => other.all - one.all || compareValues(one.value, other.value));
        return { type: 'values', values: missing.all ? [...sorted, missing] : sorted };
    }
    if (!(meaning.min <= meaning.max)) return { type: 'none' };
    const [total, among] = [[...all.slice(1)], [...passing.slice(1)]];
    return { type: 'bins', ...meaning, all: total, passing: among, missing: passing[0]! };
}

const compareValues = (one: string, other: string): number =>
    Number(one) - Number(other) || (one < other ? -1 : Number(one > other));

function codeTexts(store: ColumnStore, column: number): Codes {
    const codes = new Uint16Array(store.rows);
    const known = new Map<string, number>();
    for (const [batch, part] of store.partsOf(column).entries()) {
        const [start, text] = [store.starts[batch]!, textReader(part)];
        for (let at = 0; at < part.length; at++) {
            if (isNull(part, at)) continue;
            const value = text(at);
            let code = known.get(value);
            if (code === undefined) known.set(value, (code = known.size + 1));
            if (code > MAX_VALUES) return { codes, all: new Uint32Array(1), meaning: undefined };
            codes[start + at] = code;
        }
    }
    return { codes, all: countCodes(codes, known.size + 1), meaning: [...known.keys()] };
}

function codeNumbers(store: ColumnStore, column: number): Codes {
    const values = store.readNumbers(column);
    return codeFewNumbers(store, column, values) ?? codeBins(values);
}

/** Return codes of a few different numbers, instants or booleans; undefined for more. */
function codeFewNumbers(store: ColumnStore, column: number, values: Float64Array): Codes | undefined {
    const codes = new Uint16Array(values.length);
    const known = new Map<number, number>();
    const first: number[] = [];
    for (let row = 0; row < values.length; row++) {
        const value = values[row]!;
        if (Number.isNaN(value)) continue;
        let code = known.get(value);
        if (code === undefined) {
            known.set(value, (code = known.size + 1));
            first.push(row);
        }
        if (code > MAX_NUMBERS) return undefined;
        codes[row] = code;
    }
    const meaning = first.map((row) => String(store.readRow(row, [column])[0]));
    return { codes, all: countCodes(codes, known.size + 1), meaning };
}

function codeBins(values: Float64Array): Codes {
    let [min, max] = [Infinity, -Infinity];
    for (const value of values) {
        if (!Number.isFinite(value)) continue;
        if (value < min) min = value;
        if (value > max) max = value;
    }
    const codes = new Uint16Array(values.length);
    const scale = BINS / (max - min);
    for (let row = 0; row < values.length; row++) {
        const value = values[row]!;
        if (value >= min && value <= max) codes[row] = 1 + Math.min(BINS - 1, Math.floor((value - min) * scale));
    }
    return { codes, all: countCodes(codes, BINS + 1), meaning: { min, max } };
}

function countCodes(codes: Uint16Array, kinds: number): Uint32Array {
    const counts = new Uint32Array(kinds);
    for (const code of codes) counts[code]!++;
    return counts;
}
