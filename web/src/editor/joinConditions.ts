/** Conditions that join the tables of a query: by foreign keys, by identifiers, by position. */

import { areSameNames, quoteName } from '../adql/adqlNames';
import type { Relation, Scope } from '../adql/queryScope';
import { findJoinPairs, findRelated } from '../match/joinPairs';
import { kindOf } from '../model/fieldKind';
import { guessPosition, type CandidateColumn, type Position } from '../uploads/positionGuess';
import { isConverted, pointSql, qualifyName } from '../uploads/positionSql';
import { columnsOf, findTable, type Tables } from './relationColumns';

export interface JoinCondition {
    readonly sql: string;
    readonly by: 'key' | 'id' | 'position';
}

/** A table of the query with the known facts about it. */
interface JoinSide {
    /** as the query writes it */
    readonly name: string;
    readonly table: string;
    readonly columns: readonly CandidateColumn[];
    readonly position: Position | undefined;
}

/** Return the conditions that join the last table to those before it, as the query calls them. */
export async function findJoinConditions(joined: readonly Relation[], tables: Tables): Promise<JoinCondition[]> {
    const sides = await Promise.all(joined.filter(({ name }) => name).map((relation) => sideOf(relation, tables)));
    const own = sides.at(-1);
    if (!own || sides.length < 2) return [];
    const keys = await loadKeys(tables);
    const others = sides.slice(0, -1).reverse();
    const byColumns = others.flatMap((other) =>
        findJoinPairs(own, other, keys).map(({ pairs, isKey }): JoinCondition => {
            const equal = pairs.map(
                (pair) => `${qualifyName(other.name, pair.other)} = ${qualifyName(own.name, pair.own)}`,
            );
            return { sql: equal.join(' AND '), by: isKey ? 'key' : 'id' };
        }),
    );
    return [...byColumns, ...others.flatMap((other) => positionConditions(other, own))];
}

/** Return the tables that a foreign key connects with the tables of the query, where JOIN names one. */
export async function relatedTables({ clause, joined }: Scope, tables: Tables): Promise<readonly string[]> {
    if (clause !== 'JOIN') return [];
    const names = joined.map(({ table }) => tableName(table, tables)).filter(Boolean);
    const related = findRelated(names, await loadKeys(tables));
    return tables.schemas
        .flatMap((schema) => schema.tables.map(({ name }) => name))
        .filter((name) => related.some((other) => areSameNames(other, name)));
}

/** Keys are a help: without the service there are none. */
const loadKeys = async (tables: Tables) => (await tables.keys?.().catch(() => [])) ?? [];

const tableName = (written: string | undefined, tables: Tables): string =>
    written === undefined ? '' : (findTable(written, tables.schemas) ?? '');

async function sideOf(relation: Relation, tables: Tables): Promise<JoinSide> {
    const known = await columnsOf(relation, tables).catch(() => []);
    const columns = known.map(({ name, column }): CandidateColumn => {
        const { datatype = '', arraysize, xtype, unit, ucd } = column ?? {};
        return { name, unit, ucd, kind: kindOf(datatype, arraysize, xtype) };
    });
    const table = tableName(relation.table, tables);
    const position = tables.position?.(table) ?? guessPosition(columns);
    return { name: quoteName(relation.name), table, columns, position };
}

/** Positions in other notations than degrees have to be converted in a subquery: the wizard writes it. */
function positionConditions(other: JoinSide, own: JoinSide): JoinCondition[] {
    const [one, two] = [other.position, own.position];
    if (!one || !two || isConverted({ position: one }) || isConverted({ position: two })) return [];
    const isPlain = one.frame === 'ICRS' && two.frame === 'ICRS';
    const points = [other, own].map((side) => {
        const { longitude, latitude } = side.position!;
        if (isPlain) return [longitude, latitude].map(({ column }) => qualifyName(side.name, column)).join(', ');
        return pointSql(side.name, { table: side.table, position: side.position!, all: [] });
    });
    return [{ sql: `DISTANCE(${points.join(', ')}) < 1 / 3600.`, by: 'position' }];
}
