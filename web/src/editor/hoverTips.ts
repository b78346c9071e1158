/** Tips for the word under the pointer and for the call whose arguments are being typed. */

import { StateField, type EditorState, type Extension } from '@codemirror/state';
import { hoverTooltip, showTooltip, type Tooltip } from '@codemirror/view';
import { text } from '../text';
import { columnsOf, findTable, type Tables } from './relationColumns';
import { MAX_CHARACTERS } from './adqlCompletion';
import type { FunctionInfo } from './adqlFunctions';
import { isName, nameOf, equalIgnoringCase, splitTokens, type Token } from '../adql/adqlTokens';
import { callAt, typedAt } from './cursorContext';
import { relationOf, scopeAt, type Scope } from '../adql/queryScope';
import { callTip, columnTip, functionTip, tableTip } from './tipElements';

/** Show the signature of the call around the cursor with its current argument marked. */
export function callHints(functions: () => readonly FunctionInfo[]): Extension {
    const field = StateField.define<Tooltip | null>({
        create: () => null,
        update: (before, change) => {
            if (change.docChanged) return callTooltip(change.state, functions());
            return change.selection && before ? callTooltip(change.state, functions()) : before;
        },
        provide: (of) => showTooltip.from(of),
    });
    return field;
}

function callTooltip(state: EditorState, functions: readonly FunctionInfo[]): Tooltip | null {
    const { main } = state.selection;
    if (!main.empty || state.doc.length > MAX_CHARACTERS) return null;
    const call = callAt(splitTokens(state.doc.toString()), main.head);
    const info = call && functions.find(({ name }) => equalIgnoringCase(name, call.name));
    if (!call || !info) return null;
    return { pos: call.from, above: true, create: () => ({ dom: callTip(info, call.argument) }) };
}

/** Describe the word under the pointer: a column, table or function. */
export function hoverHints(tables: Tables, functions: () => readonly FunctionInfo[]): Extension {
    return hoverTooltip(async (view, at) => {
        if (view.state.doc.length > MAX_CHARACTERS) return null;
        const adql = view.state.doc.toString();
        const tokens = splitTokens(adql);
        const token = tokens.find((one) => one.from <= at && at < one.to);
        if (!token || !(isName(token) || token.kind === 'keyword')) return null;
        const dom = await tipOf(token, tokens, scopeAt(adql, at, tokens), tables, functions());
        return dom ? { pos: token.from, end: token.to, above: true, create: () => ({ dom }) } : null;
    });
}

async function tipOf(
    token: Token,
    tokens: readonly Token[],
    scope: Scope,
    tables: Tables,
    functions: readonly FunctionInfo[],
): Promise<HTMLElement | undefined> {
    const next = tokens[tokens.indexOf(token) + 1];
    const info = next?.text === '(' && functions.find(({ name }) => equalIgnoringCase(name, token.text));
    if (info) return functionTip(info);
    if (!isName(token)) return undefined;
    const qualifier = typedAt(tokens, token.from)?.qualifier ?? [];
    const table = tableTipOf([...qualifier, nameOf(token)], scope, tables);
    if (table) return table;
    const sole = qualifier.length > 0 ? relationOf(scope, qualifier) : undefined;
    for (const relation of sole ? [sole] : scope.relations) {
        const columns = await columnsOf(relation, tables).catch(() => []);
        const found = columns.find(({ name }) => equalIgnoringCase(name, nameOf(token)));
        if (found?.column) return columnTip(found.column.name, found.column, relation.name);
    }
    return undefined;
}

function tableTipOf(names: readonly string[], scope: Scope, tables: Tables): HTMLElement | undefined {
    const written = relationOf(scope, names)?.table;
    const table = written === undefined ? undefined : findTable(written, tables.schemas);
    const entry = tables.schemas.flatMap((schema) => schema.tables).find(({ name }) => name === table);
    return entry && tableTip(entry.name, entry.description, text.editor.kinds.table);
}
