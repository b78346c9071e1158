/** Completions at the cursor: columns (through aliases), tables, schemas, functions and keywords. */

import { formatUnit } from '../text/unitFormat';
import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete';
import type { EditorView } from '@codemirror/view';
import { lastPartOf, splitName, quoteName, unquoteName } from '../adql/adqlNames';
import { text } from '../text';
import { findJoinConditions, relatedTables, type JoinCondition } from './joinConditions';
import { columnsOf, type KnownColumn, type Tables } from './relationColumns';
import type { FunctionInfo } from './adqlFunctions';
import { isName, equalIgnoringCase, splitTokens } from '../adql/adqlTokens';
import { typedAt, type TypedName } from './cursorContext';
import { relationOf, scopeAt, type Relation, type Scope } from '../adql/queryScope';
import { columnTip, functionTip, tableTip } from './tipElements';
import { CONTEXTUAL, KEYWORDS, PHRASES, TYPES } from '../adql/keywords';

/** Longer texts are not analysed at every key. */
export const MAX_CHARACTERS = 200_000;

const texts = text.editor.kinds;

/** Return the completions at the cursor, or null where nothing is completed. */
export async function findCompletions(
    context: CompletionContext,
    tables: Tables,
    functions: readonly FunctionInfo[],
): Promise<CompletionResult | null> {
    if (context.state.doc.length > MAX_CHARACTERS) return null;
    const adql = context.state.doc.toString();
    const tokens = splitTokens(adql);
    const typed = typedAt(tokens, context.pos);
    const isAfterOn = typed?.before?.text === 'ON' && typed.qualifier.length === 0;
    if (!typed || (!context.explicit && !typed.prefix && typed.qualifier.length === 0 && !isAfterOn)) return null;
    const scope = scopeAt(adql, context.pos, tokens);
    if (isAfterOn && scope.clause !== 'ON') return null;
    const options = await optionsAt(typed, scope, tables, functions);
    const written = typed.prefix.startsWith('"') ? options.flatMap(quotedOptions) : options;
    return { from: typed.from, to: typed.to, options: written, validFor: /^[A-Za-z][A-Za-z0-9_]*$/ };
}

async function optionsAt(
    typed: TypedName,
    scope: Scope,
    tables: Tables,
    functions: readonly FunctionInfo[],
): Promise<Completion[]> {
    const { before, qualifier } = typed;
    if (qualifier.length > 0)
        return [...(await qualifiedOptions(qualifier, scope, tables)), ...schemaTableOptions(qualifier, tables)];
    if (before?.text === 'AS') return TYPES.map((type) => ({ label: type, type: 'type' }));
    const words = keywordOptions(typed.prefix);
    const inFrom = scope.clause === 'FROM' || scope.clause === 'JOIN';
    if (inFrom && !(before && (isName(before) || before.text === ')')))
        return [...relationOptions(scope, tables, await relatedTables(scope, tables)), ...words];
    if (inFrom) return words;
    const joins = before?.text === 'ON' ? (await findJoinConditions(scope.joined, tables)).map(joinOption) : [];
    return [...joins, ...(await valueOptions(scope, tables)), ...functions.map(functionOption), ...words];
}

async function qualifiedOptions(qualifier: readonly string[], scope: Scope, tables: Tables): Promise<Completion[]> {
    const relation = relationOf(scope, qualifier) ?? guessRelation(qualifier, scope);
    const columns = await knownColumns(relation, tables);
    return columns.map((column) => columnOption(column));
}

/** Guess the relation of a qualifier when FROM is not written yet: a WITH table or a table of the service. */
function guessRelation(qualifier: readonly string[], { withTables }: Scope): Relation {
    const [name = ''] = qualifier;
    const own = qualifier.length === 1 && withTables.find((table) => equalIgnoringCase(table.name, name));
    return own || { name, table: qualifier.map((part) => quoteName(part)).join('.') };
}

/** Offer the tables of a schema by their names without it. */
function schemaTableOptions(qualifier: readonly string[], tables: Tables): Completion[] {
    const [name, ...rest] = qualifier;
    const schema = tables.schemas.find((one) => equalIgnoringCase(unquoteName(one.name), name ?? ''));
    if (!schema || rest.length > 0) return [];
    return schema.tables.map((table) => ({
        ...namedOption(unquoteName(lastPartOf(table.name)), lastPartOf(table.name)),
        type: 'class',
        detail: texts.table,
        info: () => tableTip(table.name, table.description, texts.table),
    }));
}

/** Offer a whole condition, before anything else. */
function joinOption({ sql, by }: JoinCondition): Completion {
    return { label: sql, type: 'text', detail: texts.joins[by], boost: { key: 99, id: 98, position: 97 }[by] };
}

/** Offer what FROM accepts: tables, WITH tables, schemas. Tables that a key connects with this query come first. */
function relationOptions(scope: Scope, tables: Tables, related: readonly string[]): Completion[] {
    const own = scope.withTables.map(({ name }) => ({
        ...namedOption(name),
        type: 'class',
        detail: texts.uploaded,
        boost: 3,
    }));
    const schemas = tables.schemas.map(({ name, description }) => ({
        ...namedOption(unquoteName(name), name),
        type: 'namespace',
        detail: texts.schema,
        info: () => tableTip(name, description, texts.schema),
    }));
    const all = tables.schemas.flatMap((schema) => schema.tables);
    const byName = all.map((table) => ({
        ...namedOption(splitName(table.name).map(unquoteName).join('.'), table.name),
        type: 'class',
        ...(related.includes(table.name) ? { detail: texts.related, boost: 4 } : { detail: texts.table, boost: 1 }),
        info: () => tableTip(table.name, table.description, texts.table),
    }));
    return [...own, ...byName, ...schemas];
}

/** Offer what an expression accepts: columns, qualifiers, and outputs where they may be named. */
async function valueOptions(scope: Scope, tables: Tables): Promise<Completion[]> {
    const found = await Promise.all(
        scope.relations.map(async (relation) => ({ relation, columns: await knownColumns(relation, tables) })),
    );
    const several = found.length > 1;
    const counts = new Map<string, number>();
    for (const { columns } of found)
        for (const { name } of columns) counts.set(name.toLowerCase(), (counts.get(name.toLowerCase()) ?? 0) + 1);
    const columns = found.flatMap(({ relation, columns: own }) =>
        own.map((column) =>
            columnOption(column, several ? relation : undefined, (counts.get(column.name.toLowerCase()) ?? 0) > 1),
        ),
    );
    const aliases = scope.relations
        .filter(({ name }) => name)
        .map(({ name, table }) => ({ ...namedOption(name), type: 'variable', detail: table ?? texts.alias, boost: 1 }));
    const outputs = ['ORDER', 'GROUP', 'HAVING'].includes(scope.clause) ? scope.outputs : [];
    const outs = outputs
        .flatMap((output) => ('all' in output || output.column === output.name ? [] : [output.name]))
        .map((name) => ({ ...namedOption(name), type: 'variable', detail: texts.output, boost: 2 }));
    return [...outs, ...columns, ...aliases];
}

/** Return the columns of a relation; none if the service does not answer, which the tree of tables reports. */
async function knownColumns(relation: Relation, tables: Tables): Promise<readonly KnownColumn[]> {
    return columnsOf(relation, tables).catch(() => []);
}

function columnOption({ name, column }: KnownColumn, relation?: Relation, ambiguous = false): Completion {
    const written = quoteName(name);
    const table = relation ? quoteName(relation.name) : '';
    const detail = [table, formatUnit(column?.unit ?? '')].filter(Boolean).join(' · ');
    return {
        ...namedOption(name, ambiguous && table ? `${table}.${written}` : written),
        type: 'property',
        boost: 2,
        ...(detail && { detail }),
        ...(column && { info: () => columnTip(written, column, table) }),
    };
}

function functionOption(info: FunctionInfo): Completion {
    const empty = info.forms.every((form) => form.includes('()'));
    return {
        label: info.name,
        type: 'function',
        detail: info.forms[0]!.slice(info.name.length).replace(/ ->.*| OVER.*/, ''),
        info: () => functionTip(info),
        boost: -1,
        apply: (view, _completion, from, to) => insertCall(view, info.name, empty, from, to),
    };
}

/** Insert a call with the cursor between its parentheses; reuse parentheses that are there. */
function insertCall(view: EditorView, name: string, empty: boolean, from: number, to: number): void {
    const there = view.state.sliceDoc(to, to + 1) === '(';
    const insert = there ? name : `${name}()`;
    const anchor = from + name.length + (empty && !there ? 2 : 1);
    view.dispatch({ changes: { from, to, insert }, selection: { anchor }, userEvent: 'input.complete' });
}

function keywordOptions(prefix: string): Completion[] {
    const lower = prefix !== '' && prefix === prefix.toLowerCase();
    return [...KEYWORDS, ...CONTEXTUAL, ...PHRASES].map((word) => ({
        label: lower ? word.toLowerCase() : word,
        type: 'keyword',
    }));
}

/** Match a name by its plain letters; insert it quoted where ADQL needs quotes. */
function namedOption(name: string, written = quoteName(name)): Completion {
    return written === name ? { label: name } : { label: name, apply: written };
}

/** After an opening quote offer only names, matched in their quoted form. */
function quotedOptions(option: Completion): Completion[] {
    if (option.type === 'keyword' || option.type === 'function') return [];
    const written = `"${option.label.replaceAll('"', '""')}"`;
    return [{ ...option, label: written, apply: written }];
}
