/** Equal columns by which two tables can be joined. */

import { areSameNames } from '../adql/adqlNames';
import { equalIgnoringCase } from '../adql/adqlTokens';
import type { TableKey } from '../tap/tableKeys';

/** A table with its columns, whose names are plain. */
export interface JoinedTable {
    /** its full name; '' for the outputs of a query */
    readonly table: string;
    readonly columns: readonly { readonly name: string; readonly ucd?: string | undefined }[];
}

export interface JoinPair {
    readonly own: string;
    readonly other: string;
}

/** Columns that are equal together. */
export interface JoinPairs {
    readonly pairs: readonly JoinPair[];
    readonly isKey: boolean;
}

/** Return the ways to join `own` to `other` by equal columns: foreign keys, then identifiers of equal names. */
export function findJoinPairs(own: JoinedTable, other: JoinedTable, keys: readonly TableKey[]): JoinPairs[] {
    const byKey = keys.flatMap(({ from, target, columns }): JoinPairs[] => {
        if (!own.table || !other.table) return [];
        const forward = areSameNames(from, own.table) && areSameNames(target, other.table);
        const backward = areSameNames(from, other.table) && areSameNames(target, own.table);
        if (!forward && !backward) return [];
        const pairs = columns.map((pair) =>
            forward ? { own: pair.from, other: pair.target } : { own: pair.target, other: pair.from },
        );
        return [{ pairs, isKey: true }];
    });
    const byName = own.columns.filter(isIdentifier).flatMap(({ name }): JoinPairs[] => {
        const same = other.columns.find((column) => isIdentifier(column) && equalIgnoringCase(column.name, name));
        return same ? [{ pairs: [{ own: name, other: same.name }], isKey: false }] : [];
    });
    return [...byKey, ...byName.filter((one) => !byKey.some((known) => arePairsEqual(known, one)))];
}

const isIdentifier = ({ ucd }: { readonly ucd?: string | undefined }): boolean =>
    (ucd ?? '').toLowerCase().split(';')[0] === 'meta.id';

const arePairsEqual = (one: JoinPairs, other: JoinPairs): boolean =>
    one.pairs.length === other.pairs.length &&
    one.pairs.every(({ own, other: with_ }, at) => {
        const pair = other.pairs[at];
        return pair && equalIgnoringCase(pair.own, own) && equalIgnoringCase(pair.other, with_);
    });

/** Return the tables that a foreign key connects with one of these. */
export function findRelated(tables: readonly string[], keys: readonly TableKey[]): string[] {
    const isIn = (name: string) => tables.some((table) => areSameNames(table, name));
    const found = keys.flatMap(({ from, target }) => (isIn(from) ? [target] : isIn(target) ? [from] : []));
    return [...new Set(found)].filter((name) => !isIn(name));
}
