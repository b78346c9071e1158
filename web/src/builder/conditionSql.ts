/** The conditions of the query builder as ADQL. */

import { quoteLiteral } from '../adql/adqlNames';
import type { CandidateColumn } from '../uploads/positionGuess';
import { qualifyName } from '../uploads/positionSql';
import { TESTS, type DraftCondition } from './queryDraft';
import { readInstant, readNumber, splitValues, type TypedValue } from './typedValues';

/** A condition as ADQL; undefined while its value is missing. */
export type WrittenCondition =
    { readonly sql: string; readonly converted: readonly string[] } | { readonly problem: string } | undefined;

const BOUNDS = { above: '>', below: '<' } as const;

/** Write a condition. `alias` qualifies its column; '' if the query has one table. */
export function writeCondition(condition: DraftCondition, column: CandidateColumn, alias: string): WrittenCondition {
    const name = qualifyName(alias, column.name);
    const { test } = condition;
    if (!(TESTS[column.kind] as readonly string[]).includes(test)) return undefined;
    if (test === 'known' || test === 'unknown') return plain(`${name} IS ${test === 'known' ? 'NOT ' : ''}NULL`);
    if (test === 'true' || test === 'false') return plain(`${name} = ${test.toUpperCase()}`);
    if (test === 'between') return writeRange(condition, column, name);
    if (test === 'contains' || test === 'begins') return writePattern(test, condition.value, name);
    if (test === 'is' || test === 'isNot') return writeChoice(condition, column, name);
    if (!condition.value.trim()) return undefined;
    const read = readValue(condition.value, column);
    return 'problem' in read ? read : plain(`${name} ${BOUNDS[test]} ${read.sql}`, read);
}

function plain(sql: string, ...read: readonly TypedValue[]): WrittenCondition {
    return {
        sql,
        converted: read.flatMap((one) => ('converted' in one && one.converted !== undefined ? [one.converted] : [])),
    };
}

const readValue = (typed: string, column: CandidateColumn): TypedValue =>
    column.kind === 'time' ? readInstant(typed) : readNumber(typed, column.unit);

function writeRange({ value, upper }: DraftCondition, column: CandidateColumn, name: string): WrittenCondition {
    const ends = [value, upper].map((typed) => (typed.trim() ? readValue(typed, column) : undefined));
    const [low, high] = ends;
    for (const end of ends) if (end && 'problem' in end) return end;
    const sqlOf = (end: TypedValue | undefined) => (end && 'sql' in end ? end.sql : '');
    if (low && high) return plain(`${name} BETWEEN ${sqlOf(low)} AND ${sqlOf(high)}`, low, high);
    if (low) return plain(`${name} >= ${sqlOf(low)}`, low);
    return high && plain(`${name} <= ${sqlOf(high)}`, high);
}

function writePattern(test: 'contains' | 'begins', value: string, name: string): WrittenCondition {
    if (!value) return undefined;
    return plain(`${name} ILIKE ${quoteLiteral(`${test === 'contains' ? '%' : ''}${value}%`)}`);
}

function writeChoice(condition: DraftCondition, column: CandidateColumn, name: string): WrittenCondition {
    const typed = splitValues(condition.value);
    const read: TypedValue[] =
        column.kind === 'text'
            ? [...new Set([...condition.chosen, ...typed])].map((value) => ({ sql: quoteLiteral(value) }))
            : typed.map((value) => readNumber(value, column.unit));
    const values: string[] = [];
    for (const one of read) {
        if ('problem' in one) return one;
        values.push(one.sql);
    }
    if (values.length === 0) return undefined;
    const isNot = condition.test === 'isNot';
    if (values.length === 1) return plain(`${name} ${isNot ? '<>' : '='} ${values[0]!}`, ...read);
    return plain(`${name} ${isNot ? 'NOT ' : ''}IN (${values.join(', ')})`, ...read);
}
