/** Conditions typed above a column: `> 5`, `3..4.5`, `2016-01-01..`, `true`, a part of a text, `= A | B`, `!= A`. */

import type { Field, Filter } from '../model/resultModel';
import { nextDouble } from '../model/adjacentFloats';
import { formatMjd, parseMjd } from '../model/instants';

/** Parse a condition: undefined if empty, 'wrong' if unreadable. */
export function parseCondition(typed: string, field: Field, column: number): Filter | undefined | 'wrong' {
    const words = typed.trim();
    if (!words) return undefined;
    const values = parseValues(words, field, column);
    if (values) return values;
    if (field.kind === 'text' || field.kind === 'array') return { column, contains: words };
    const read = field.kind === 'boolean' ? parseBoolean : field.kind === 'time' ? parseMjd : parseNumber;
    const found = parseRange(words, read);
    return found ? { column, ...found } : 'wrong';
}

/** Parse `= A | B`, `!= A`; undefined otherwise: a number may also follow `=`. */
function parseValues(words: string, field: Field, column: number): Filter | undefined | 'wrong' {
    const found = /^(=|!=|<>|≠)\s*(.+)$/s.exec(words);
    if (!found) return undefined;
    const [, sign, list] = found;
    const values = [...list!.matchAll(/\s*("(?:[^"]|"")*"|[^|]*?)\s*(?:\||$)/gs)]
        .map((piece) => piece[1]!)
        .filter(Boolean)
        .map((word) =>
            word === 'NULL' ? null : /^".*"$/s.test(word) ? word.slice(1, -1).replaceAll('""', '"') : word,
        );
    const isText = field.kind === 'text' || field.kind === 'array';
    // NaN and instants to any digit are ranges
    if (!isText && sign === '=' && values.length === 1 && values[0] !== null) return undefined;
    if (values.some((value) => value !== null && !isValueOf(field, value))) return 'wrong';
    return sign === '=' ? { column, oneOf: values } : { column, noneOf: values };
}

function isValueOf({ kind }: Field, value: string): boolean {
    if (kind === 'number') return !Number.isNaN(parseNumber(value));
    if (kind === 'boolean') return value === 'true' || value === 'false';
    return kind !== 'time' || !Number.isNaN(parseMjd(value));
}

/** Describe a filter as it would be typed. */
export function describeFilter(filter: Filter, { kind }: Field): string {
    if ('rows' in filter) return filter.title;
    if ('contains' in filter) return filter.contains;
    if ('oneOf' in filter) return `= ${filter.oneOf.map(writeValue).join(' | ')}`;
    if ('noneOf' in filter) return `!= ${filter.noneOf.map(writeValue).join(' | ')}`;
    const { min, max } = filter;
    const write = (value: number) =>
        kind === 'time' ? formatMjd(value) : kind === 'boolean' ? String(!!value) : String(value);
    if (min !== undefined && min === max) return write(min);
    return min === undefined
        ? `<= ${write(max ?? Infinity)}`
        : max === undefined
          ? `>= ${write(min)}`
          : `${write(min)}..${write(max)}`;
}

/** Quotes keep a value apart from the signs between values, and from NULL. */
function writeValue(value: string | null): string {
    if (value === null) return 'NULL';
    return value === 'NULL' || value !== value.trim() || !value || /[|"]/.test(value)
        ? `"${value.replaceAll('"', '""')}"`
        : value;
}

type Range = { min?: number; max?: number };

function parseRange(words: string, read: (text: string) => number): Range | undefined {
    const compared = /^(<=|>=|<|>|=|≤|≥)\s*(.*)$/s.exec(words);
    if (compared) return rangeOfSign(compared[1]!, read(compared[2]!));
    const between = /^(.*?)\s*(?:\.\.|…)\s*(.*)$/s.exec(words);
    if (between) return rangeOfEnds(between[1]!, between[2]!, read);
    const value = read(words);
    return Number.isNaN(value) ? undefined : { min: value, max: value };
}

function rangeOfSign(sign: string, value: number): Range | undefined {
    if (Number.isNaN(value)) return undefined;
    if (sign === '<') return { max: nextDouble(value, -1) };
    if (sign === '>') return { min: nextDouble(value, 1) };
    if (sign === '=') return { min: value, max: value };
    return sign === '<=' || sign === '≤' ? { max: value } : { min: value };
}

function rangeOfEnds(first: string, last: string, read: (text: string) => number): Range | undefined {
    if (!first && !last) return undefined;
    const [min, max] = [first ? read(first) : -Infinity, last ? read(last) : Infinity];
    if (Number.isNaN(min) || Number.isNaN(max)) return undefined;
    return { ...(first && { min }), ...(last && { max }) };
}

function parseNumber(text: string): number {
    return /^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*$/i.test(text) ? Number(text) : NaN;
}

function parseBoolean(text: string): number {
    const word = text.trim().toLowerCase();
    if (['true', 't', 'yes', '1'].includes(word)) return 1;
    return ['false', 'f', 'no', '0'].includes(word) ? 0 : NaN;
}
