/** CodeMirror with everything that it needs; import() loads it when the query page is first shown. */

import {
    acceptCompletion,
    autocompletion,
    closeBrackets,
    closeBracketsKeymap,
    closeCompletion,
    completionKeymap,
    selectedCompletion,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, isolateHistory } from '@codemirror/commands';
import { bracketMatching } from '@codemirror/language';
import { lintKeymap, setDiagnostics, type Diagnostic } from '@codemirror/lint';
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search';
import { Compartment, EditorState, Prec, Transaction, type Extension, type TransactionSpec } from '@codemirror/state';
import {
    drawSelection,
    dropCursor,
    EditorView,
    highlightActiveLine,
    highlightActiveLineGutter,
    highlightSpecialChars,
    keymap,
    lineNumbers,
    placeholder,
} from '@codemirror/view';
import type { QueryError } from '../tap/estimateClient';
import { text } from '../text';
import type { Tables } from './relationColumns';
import { findCompletions } from './adqlCompletion';
import { findNameCompletions } from './nameCompletion';
import { adqlLanguage, EDITOR_APPEARANCE } from './adqlDialect';
import { changesOf, differenceOf, fixLabel, type TextChange } from './queryFixes';
import { loadFunctions, functionsOf, type FunctionInfo } from './adqlFunctions';
import { callHints, hoverHints } from './hoverTips';
import { equalIgnoringCase, splitTokens } from '../adql/adqlTokens';
import { insertionAt, rangeOf } from './cursorContext';
import { scopeAt } from '../adql/queryScope';
import { makeElement } from './tipElements';

/** Events for the page. */
export interface EditorEvents {
    changed(adql: string): void;
    selected(text: string, from: number, cursor: number): void;
}

/** The texts of the tabs, one shown at a time. Each keeps its cursor and undo history. */
export class QueryEditor {
    readonly #view: EditorView;
    readonly #states = new Map<string, EditorState>();
    readonly #language = new Compartment();
    readonly #extensions: Extension;
    #functions: readonly FunctionInfo[] = functionsOf([]);
    #shown = '';
    /** the underlined errors that have a fix */
    #corrections: readonly Diagnostic[] = [];

    constructor(parent: HTMLElement, events: EditorEvents, tables: Tables) {
        this.#extensions = this.#makeExtensions(events, tables);
        this.#view = new EditorView({ parent, state: this.#makeState('') });
        void this.#loadFunctions();
    }

    /** Show the text of a tab, with the cursor where it was. */
    showTab(id: string, adql: string): void {
        if (this.#shown) this.#states.set(this.#shown, this.#view.state);
        this.#shown = id;
        const kept = this.#states.get(id);
        this.#view.setState(kept?.update(changeFromElsewhere(kept, adql)).state ?? this.#makeState(adql));
        void this.#loadFunctions();
    }

    /** Show a text that was written elsewhere. The cursor does not move; undo still reverts changes made here. */
    takeText(adql: string): void {
        const { state } = this.#view;
        if (state.doc.toString() !== adql) this.#view.dispatch(changeFromElsewhere(state, adql));
    }

    /** Free the state of closed tabs. */
    keepOnly(ids: readonly string[]): void {
        for (const id of this.#states.keys()) if (!ids.includes(id)) this.#states.delete(id);
    }

    /** Insert a name or text at the cursor. */
    insertText(inserted: string): void {
        const { state } = this.#view;
        const { from, to } = state.selection.main;
        const [doc, tokens] = [state.doc.toString(), splitTokens(state.doc.toString())];
        const change =
            from < to
                ? { from, to, insert: inserted }
                : insertionAt(doc, from, inserted, scopeAt(doc, from, tokens).clause, tokens);
        const anchor = change.from + change.insert.trimEnd().length;
        this.#view.dispatch({ changes: change, selection: { anchor }, userEvent: 'input', scrollIntoView: true });
        this.focus();
    }

    /** Replace the whole text; undo restores it. */
    replaceText(doc: string): void {
        const { state } = this.#view;
        if (state.doc.toString() === doc) return;
        const anchor = Math.min(state.selection.main.head, doc.length);
        const changes = { from: 0, to: state.doc.length, insert: doc };
        this.#view.dispatch({ changes, selection: { anchor }, annotations: isolateHistory.of('full') });
    }

    /** Apply changes; one undo reverts them all. */
    applyChanges(changes: readonly TextChange[]): void {
        const annotations = isolateHistory.of('full');
        this.#view.dispatch({ changes: [...changes], annotations, userEvent: 'input', scrollIntoView: true });
        this.focus();
    }

    /** Underline errors of the query that begins at `offset`. */
    underlineErrors(errors: readonly QueryError[], offset = 0): void {
        const doc = this.#view.state.doc.toString();
        const found = errors.map((error) => this.#makeDiagnostic(error, doc, offset));
        this.#corrections = found.filter(({ actions }) => actions);
        this.#view.dispatch(setDiagnostics(this.#view.state, found));
    }

    /** Select an error and scroll to it. */
    goTo(error: QueryError, offset = 0): void {
        const range = shiftRange(rangeOf(this.#view.state.doc.toString().slice(offset), error), offset);
        this.#view.dispatch({ selection: { anchor: range.from, head: range.to }, scrollIntoView: true });
        this.focus();
    }

    /** Close the list of completions. */
    closeCompletions(): void {
        closeCompletion(this.#view);
    }

    focus(): void {
        this.#view.focus();
    }

    close(): void {
        this.#view.destroy();
    }

    #makeDiagnostic(error: QueryError, doc: string, offset: number): Diagnostic {
        const message = [error.message, error.hint].filter(Boolean).join('\n');
        const { fixes } = error;
        const correct = (view: EditorView): void => {
            // the error's offsets belong to another text
            if (view.state.doc.toString() === doc) this.applyChanges(changesOf(doc, fixes ?? [], offset));
        };
        return {
            ...(fixes && { actions: [{ name: fixLabel(doc.slice(offset), fixes), apply: correct }] }),
            ...shiftRange(rangeOf(doc.slice(offset), error), offset),
            severity: 'error',
            message,
            renderMessage: () => {
                const element = makeElement('div', '', 'cm-tip');
                element.append(makeElement('div', error.message));
                if (error.hint) element.append(makeElement('div', error.hint, 'cm-tip-quiet'));
                return element;
            },
        };
    }

    /** Apply the fix of the error at the cursor. Return false if there is none. */
    #correctAtCursor(view: EditorView): boolean {
        const { head } = view.state.selection.main;
        const found = this.#corrections.find(({ from, to }) => from <= head && head <= to);
        found?.actions?.[0]?.apply(view, found.from, found.to);
        return found !== undefined;
    }

    async #loadFunctions(): Promise<void> {
        this.#functions = await loadFunctions();
        this.#view.dispatch({ effects: this.#language.reconfigure(this.#makeDialect()) });
    }

    #makeDialect(): Extension {
        return adqlLanguage(this.#functions.map(({ name }) => name));
    }

    #makeState(doc: string): EditorState {
        return EditorState.create({ doc, extensions: [this.#language.of(this.#makeDialect()), this.#extensions] });
    }

    #makeExtensions(events: EditorEvents, tables: Tables): Extension {
        const known = () => this.#functions;
        return [
            cspNonce(),
            EditorState.phrases.of(text.editor.phrases),
            EDITOR_APPEARANCE,
            [
                lineNumbers(),
                highlightActiveLineGutter(),
                highlightSpecialChars(),
                history(),
                drawSelection(),
                dropCursor(),
            ],
            [EditorState.allowMultipleSelections.of(true), bracketMatching(), closeBrackets(), highlightActiveLine()],
            [highlightSelectionMatches(), EditorView.lineWrapping, placeholder(text.editor.placeholder)],
            EditorView.contentAttributes.of({ 'aria-label': text.editor.label, spellcheck: 'false' }),
            autocompletion({
                override: [(context) => findCompletions(context, tables, known()), findNameCompletions],
                icons: false,
                defaultKeymap: false,
            }),
            callHints(known),
            hoverHints(tables, known),
            editorKeys((view) => this.#correctAtCursor(view)),
            EditorView.domEventHandlers({ beforeinput: replaceSelection }),
            EditorView.updateListener.of(({ docChanged, selectionSet, state }) => {
                if (docChanged) events.changed(state.doc.toString());
                if (!docChanged && !selectionSet) return;
                const { from, to, head } = state.selection.main;
                events.selected(state.sliceDoc(from, to), from, head);
            }),
        ];
    }
}

/** Return the smallest change that makes the text this one; undo leaves it alone. */
function changeFromElsewhere(state: EditorState, adql: string): TransactionSpec {
    const changes = differenceOf(state.doc.toString(), adql);
    return { changes: changes ? [changes] : [], annotations: Transaction.addToHistory.of(false) };
}

const shiftRange = ({ from, to }: { from: number; to: number }, by: number) => ({ from: from + by, to: to + by });

/** The page's content security policy accepts only styles with its nonce. */
function cspNonce(): Extension {
    const given = document.querySelector('meta[name="csp-nonce"]')?.getAttribute('content');
    return given ? EditorView.cspNonce.of(given) : [];
}

/**
 * Replace a selection with typed text. Browsers would keep its look in a style attribute, which the content security
 * policy forbids.
 */
function replaceSelection(event: InputEvent, view: EditorView): boolean {
    const { data, inputType, cancelable, isComposing } = event;
    const { main } = view.state.selection;
    if (inputType !== 'insertText' || !data || !cancelable || isComposing || main.empty) return false;
    const insert = () =>
        view.state.update(view.state.replaceSelection(data), { userEvent: 'input.type', scrollIntoView: true });
    const handlers = view.state.facet(EditorView.inputHandler);
    if (!handlers.some((handler) => handler(view, main.from, main.to, data, insert))) view.dispatch(insert());
    event.preventDefault();
    return true;
}

/** Leave Ctrl+Enter and the page's other keys to the page. Tab leaves the editor unless a completion is open. */
function editorKeys(correct: (view: EditorView) => boolean): Extension {
    const others = [...closeBracketsKeymap, ...searchKeymap, ...historyKeymap, ...completionKeymap, ...lintKeymap];
    const own = [
        { key: 'Tab', run: acceptCompletion },
        { key: 'Enter', run: closeWrittenCompletion },
        { key: 'Alt-Enter', run: correct },
    ];
    return [Prec.highest(keymap.of(own)), keymap.of([...others, ...defaultKeymap])];
}

/** Let Enter begin a new line if the chosen completion is already written out. */
function closeWrittenCompletion(view: EditorView): boolean {
    const { state } = view;
    const chosen = selectedCompletion(state);
    const word = chosen && (chosen.apply ?? chosen.label);
    if (typeof word !== 'string') return false;
    const { head } = state.selection.main;
    if (equalIgnoringCase(state.sliceDoc(Math.max(0, head - word.length), head), word)) closeCompletion(view);
    return false;
}
