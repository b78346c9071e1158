/** What names mean at a position of a query: tables by alias, WITH tables, derived tables, outer queries. */

import { isName, nameOf, equalIgnoringCase, splitTokens, type Token } from './adqlTokens';
import {
    groupTokens,
    isGroup,
    isKeyword,
    isOperator,
    isQuery,
    splitNodes,
    isInside,
    type Group,
    type Node,
} from './tokenGroups';

/** Something with columns: a table of the service, or the outputs of a query. */
export interface Relation {
    /** the qualifier of its columns: alias or table name */
    readonly name: string;
    /** the table as written; undefined for WITH and derived tables */
    readonly table?: string;
    readonly outputs?: readonly Output[];
}

/** An output of a query: a column with its possible origins, or all columns of a relation. */
export type Output =
    | { readonly name: string; readonly column?: string; readonly from?: readonly Relation[] }
    | { readonly all: Relation };

export type Clause =
    'SELECT' | 'FROM' | 'JOIN' | 'ON' | 'USING' | 'WHERE' | 'GROUP' | 'HAVING' | 'ORDER' | 'OFFSET' | '';

export interface Scope {
    /** tables of this query, then the tables of outer queries that it may use */
    readonly relations: readonly Relation[];
    /** WITH tables that FROM may name here */
    readonly withTables: readonly Relation[];
    /** outputs of this query, which ORDER BY and GROUP BY may name */
    readonly outputs: readonly Output[];
    readonly clause: Clause;
    /** tables of this query that stand before the position, in their order: an ON joins the last one to the others */
    readonly joined: readonly Relation[];
}

interface OuterScope {
    readonly relations: readonly Relation[];
    readonly withTables: readonly Relation[];
}

const CLAUSES = ['SELECT', 'FROM', 'JOIN', 'ON', 'USING', 'WHERE', 'GROUP', 'HAVING', 'ORDER', 'OFFSET'];
const AFTER_FROM = ['WHERE', 'GROUP', 'HAVING', 'ORDER', 'OFFSET'];
const NOTHING: OuterScope = { relations: [], withTables: [] };

/** Return the scope at an offset, as far as an incomplete query allows. */
export function scopeAt(adql: string, at: number, tokens: readonly Token[] = splitTokens(adql)): Scope {
    return scopeInQuery(groupTokens(tokens), at, NOTHING);
}

/** Return the relation of a qualifier: `b` of `b.ra`, or `bright` and `tycho2.bright` without an alias. */
export function relationOf(scope: Scope, qualifier: readonly string[]): Relation | undefined {
    const [own, ...schema] = qualifier.toReversed();
    if (own === undefined) return undefined;
    return scope.relations.find(({ name, table }) => {
        if (!equalIgnoringCase(name, own)) return false;
        const parts = table === undefined ? [] : namesOf(table).reverse();
        return schema.every((part, index) => equalIgnoringCase(part, parts[index + 1] ?? ''));
    });
}

/**
 * Return the names of the tables that the query reads, in their parts without quotes, as far as an incomplete query
 * allows. WITH tables are none.
 */
export function tablesOf(adql: string): string[][] {
    const found: string[][] = [];
    const visit = (items: readonly Node[], around: readonly string[]): void => {
        const withNames = [...around];
        items.forEach((node, at) => {
            if (!isGroup(node)) return;
            // a WITH table may read those before it; its own name and later ones are stored tables there
            visit(node.items, withNames);
            if (isWithTable(items, at - 2)) withNames.push(nameOf(items[at - 2] as Token).toLowerCase());
        });
        for (const select of splitNodes(items, isSetOperator)) {
            const written = relationsOf(fromPart(select), []).flatMap(({ table }) => table ?? []);
            const names = written.map(namesOf);
            found.push(...names.filter(([name, ...more]) => more.length || !withNames.includes(name!.toLowerCase())));
        }
    };
    visit(groupTokens(splitTokens(adql)), []);
    return found;
}

/** Whether `name AS (query)` begins at the node. */
function isWithTable(items: readonly Node[], at: number): boolean {
    const [node, group] = [items[at], items[at + 2]];
    if (!node || isGroup(node) || !isName(node) || !isKeyword(items[at + 1], 'AS')) return false;
    return isGroup(group) && isQuery(group);
}

const namesOf = (table: string): string[] => splitTokens(table).filter(isName).map(nameOf);

function scopeInQuery(items: readonly Node[], at: number, around: OuterScope): Scope {
    const { withTables, body, inside } = readHeading(items, at, around);
    if (inside) return scopeInQuery(inside.group.items, at, { relations: [], withTables: inside.withTables });
    const selects = splitNodes(body, isSetOperator);
    const select = selects.findLast((nodes) => nodes[0] && nodes[0].from <= at) ?? selects[0] ?? [];
    const here: OuterScope = { relations: around.relations, withTables };
    const sole = select[0];
    if (isGroup(sole) && isQuery(sole) && isInside(sole, at)) return scopeInQuery(sole.items, at, here);
    const from = fromPart(select);
    const own = relationsOf(from, withTables);
    const scope: Scope = {
        relations: [...own, ...around.relations],
        withTables,
        outputs: outputsOf(select, own),
        clause: '',
        joined: relationsOf(
            from.filter((node) => node.from < at),
            withTables,
        ),
    };
    return scopeInClause(select, at, scope, here, '');
}

/** Descend into the parentheses that contain the position; a subquery has its own scope. */
function scopeInClause(nodes: readonly Node[], at: number, scope: Scope, around: OuterScope, before: Clause): Scope {
    const last = nodes.findLast((node) => node.kind === 'keyword' && CLAUSES.includes(node.text) && node.to < at);
    const clause = last?.kind === 'keyword' ? (last.text as Clause) : before;
    const group = nodes.find((node): node is Group => isGroup(node) && isInside(node, at));
    if (!group) return { ...scope, clause };
    if (!isQuery(group)) return scopeInClause(group.items, at, scope, around, clause);
    // a derived table does not see its neighbours; other subqueries see the tables around them
    const seen = clause === 'FROM' || clause === 'JOIN' ? around.relations : scope.relations;
    return scopeInQuery(group.items, at, { relations: seen, withTables: scope.withTables });
}

interface Heading {
    readonly withTables: readonly Relation[];
    /** the rest after the WITH tables */
    readonly body: readonly Node[];
    /** the WITH table whose query contains the position, with the WITH tables that it may use */
    readonly inside?: { readonly group: Group; readonly withTables: readonly Relation[] };
}

function readHeading(items: readonly Node[], at: number, around: OuterScope): Heading {
    let withTables = around.withTables;
    if (!isKeyword(items[0], 'WITH')) return { withTables, body: items };
    let next = 1;
    for (;;) {
        const start = items[next];
        if (!isName(start as Token | undefined)) break;
        const index = items.findIndex(
            (node, index) => index > next && isGroup(node) && isKeyword(items[index - 1], 'AS'),
        );
        const group = items[index];
        if (!isGroup(group)) return { withTables, body: [] };
        if (isInside(group, at)) return { withTables, body: [], inside: { group, withTables } };
        const outputs = outputsOfQuery(group.items, withTables);
        withTables = [...withTables, { name: nameOf(start as Token), outputs }];
        next = index + 1;
        if (!isOperator(items[next], ',')) break;
        next += 1;
    }
    return { withTables, body: items.slice(next) };
}

const isSetOperator = (node: Node): boolean => isKeyword(node, 'UNION', 'EXCEPT', 'INTERSECT');

function fromPart(select: readonly Node[]): Node[] {
    const start = select.findIndex((node) => isKeyword(node, 'FROM'));
    if (start < 0) return [];
    const rest = select.slice(start + 1);
    const end = rest.findIndex((node) => isKeyword(node, ...AFTER_FROM));
    return end < 0 ? rest : rest.slice(0, end);
}

function relationsOf(nodes: readonly Node[], withTables: readonly Relation[]): Relation[] {
    const found: Relation[] = [];
    let expected = true;
    for (let at = 0; at < nodes.length; at += 1) {
        const node = nodes[at];
        if (isOperator(node, ',') || isKeyword(node, 'JOIN')) expected = true;
        else if (expected && isGroup(node) && isQuery(node)) {
            found.push({ name: aliasAt(nodes, at + 1) ?? '', outputs: outputsOfQuery(node.items, withTables) });
            expected = false;
        } else if (expected && isGroup(node)) {
            found.push(...relationsOf(node.items, withTables));
            expected = false;
        } else if (expected && node?.kind !== 'group' && isName(node)) {
            const chain = nodes.slice(at, at + 2 * chainAt(nodes, at).length - 1);
            at += chain.length - 1;
            found.push(namedRelation(chain, aliasAt(nodes, at + 1), withTables));
            expected = false;
        }
    }
    return found;
}

function namedRelation(chain: readonly Node[], alias: string | undefined, withTables: readonly Relation[]): Relation {
    const names = chainAt(chain, 0);
    const name = alias ?? names.at(-1)!;
    const known = names.length === 1 && withTables.findLast((table) => equalIgnoringCase(table.name, names[0]!));
    const table = chain.map((node) => (node.kind === 'group' ? '' : node.text)).join('');
    return known ? { ...known, name } : { name, table };
}

/** Return the names of `a.b.c`. */
function chainAt(nodes: readonly Node[], start: number): string[] {
    const chain: string[] = [];
    for (let at = start; ; at += 2) {
        const node = nodes[at];
        if (!node || node.kind === 'group' || !isName(node)) break;
        chain.push(nameOf(node));
        if (!isOperator(nodes[at + 1], '.')) break;
    }
    return chain;
}

function aliasAt(nodes: readonly Node[], at: number): string | undefined {
    const index = isKeyword(nodes[at], 'AS') ? at + 1 : at;
    const node = nodes[index];
    if (!node || node.kind === 'group' || !isName(node)) return undefined;
    const sampled = node.text.toUpperCase() === 'TABLESAMPLE' && index === at;
    return sampled ? undefined : nameOf(node);
}

/** Return the outputs of a query: the outputs of its first SELECT. */
function outputsOfQuery(items: readonly Node[], around: readonly Relation[]): Output[] {
    const { withTables, body } = readHeading(items, -1, { relations: [], withTables: around });
    const select = splitNodes(body, isSetOperator)[0] ?? [];
    const sole = select[0];
    if (isGroup(sole) && isQuery(sole)) return outputsOfQuery(sole.items, withTables);
    return outputsOf(select, relationsOf(fromPart(select), withTables));
}

function outputsOf(select: readonly Node[], relations: readonly Relation[]): Output[] {
    if (!isKeyword(select[0], 'SELECT')) return [];
    const end = select.findIndex((node) => isKeyword(node, 'FROM'));
    const list = select.slice(1, end < 0 ? undefined : end).filter((node) => !isKeyword(node, 'DISTINCT', 'ALL'));
    const columns = isKeyword(list[0], 'TOP') ? list.slice(2) : list;
    return splitNodes(columns, (node) => isOperator(node, ',')).flatMap((item) => outputOf(item, relations));
}

function outputOf(item: readonly Node[], relations: readonly Relation[]): Output[] {
    const last = item.at(-1);
    const chain = chainAt(item, 0);
    if (isOperator(last, '*') && (item.length === 1 || item.length === 2 * chain.length + 1)) {
        const from = item.length === 1 ? relations : candidateRelations(chain, relations);
        return from.map((all) => ({ all }));
    }
    if (!last || last.kind === 'group' || !isName(last)) return [];
    const plain = item.length === 2 * chain.length - 1;
    const aliased = isKeyword(item.at(-2), 'AS') ? item.slice(0, -2) : item.slice(0, -1);
    const source = plain ? item : aliased;
    const from = chainAt(source, 0);
    if (from.length === 0 || source.length !== 2 * from.length - 1) return [{ name: nameOf(last) }];
    return [{ name: nameOf(last), column: from.at(-1)!, from: candidateRelations(from.slice(0, -1), relations) }];
}

function candidateRelations(qualifier: readonly string[], relations: readonly Relation[]): readonly Relation[] {
    if (qualifier.length === 0) return relations;
    const found = relationOf({ relations, withTables: [], outputs: [], clause: '', joined: [] }, qualifier);
    return found ? [found] : [];
}
