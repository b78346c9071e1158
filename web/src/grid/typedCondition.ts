/** Conditions typed above a column: `> 5`, `3..4.5`, `2016-01-01..`, `true`, a part of a text. */

import type { Field, Filter } from '../model/resultModel';
import { nextDouble } from '../model/adjacentFloats';
import { parseMjd } from '../model/instants';

/** Parse a condition: undefined if empty, 'wrong' if unreadable. */
export function parseCondition(typed: string, field: Field, column: number): Filter | undefined | 'wrong' {
    const words = typed.trim();
    if (!words) return undefined;
    if (field.kind === 'text' || field.kind === 'array') return { column, contains: words };
    const read = field.kind === 'boolean' ? parseBoolean : field.kind === 'time' ? parseMjd : parseNumber;
    const found = parseRange(words, read);
    return found ? { column, ...found } : 'wrong';
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
