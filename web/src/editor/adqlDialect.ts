/** ADQL for CodeMirror: keywords, functions and types, and colours from the page's CSS variables. */

import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { SQLDialect } from '@codemirror/lang-sql';
import type { Extension } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { CONTEXTUAL, KEYWORDS, TYPES } from '../adql/keywords';

const joinWords = (words: readonly string[]): string => words.join(' ').toLowerCase();

/** Return the language with these functions as built-ins. */
export function adqlLanguage(functions: readonly string[]): Extension {
    return SQLDialect.define({
        keywords: joinWords([...KEYWORDS, ...CONTEXTUAL]),
        builtin: joinWords(functions),
        types: joinWords(TYPES),
        operatorChars: '*+-/<>!=&|~^',
        identifierQuotes: '"',
        specialVar: '',
        caseInsensitiveIdentifiers: true,
    }).extension;
}

const HIGHLIGHT_COLOURS = HighlightStyle.define([
    { tag: tags.keyword, color: 'var(--accent)', fontWeight: '600' },
    { tag: tags.standard(tags.name), color: 'var(--accent)' },
    { tag: [tags.typeName, tags.bool, tags.null], color: 'var(--accent)', fontStyle: 'italic' },
    { tag: tags.string, color: 'var(--good)' },
    { tag: tags.number, color: 'var(--warn)' },
    { tag: [tags.lineComment, tags.blockComment], color: 'var(--quiet)', fontStyle: 'italic' },
]);

const EDITOR_THEME = EditorView.theme({
    '&': { height: '100%', color: 'var(--text)', backgroundColor: 'var(--ground)', fontSize: '14px' },
    '&.cm-focused': { outline: 'none' },
    '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.5' },
    '.cm-content': { caretColor: 'var(--text)', padding: '6px 0' },
    '.cm-cursor, .cm-dropCursor': { borderLeftColor: 'var(--text)' },
    '.cm-gutters': { backgroundColor: 'var(--raised)', color: 'var(--quiet)', borderRight: '1px solid var(--line)' },
    '.cm-activeLine': { backgroundColor: 'color-mix(in srgb, var(--accent-soft) 35%, transparent)' },
    '.cm-activeLineGutter': { backgroundColor: 'var(--accent-soft)', color: 'var(--text)' },
    '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
        backgroundColor: 'var(--accent-soft)',
    },
    '.cm-matchingBracket, &.cm-focused .cm-matchingBracket': {
        backgroundColor: 'var(--accent-soft)',
        outline: '1px solid var(--accent)',
    },
    '.cm-nonmatchingBracket, &.cm-focused .cm-nonmatchingBracket': { backgroundColor: 'var(--bad-soft)' },
    '.cm-lintRange-error': {
        backgroundImage: 'none',
        textDecoration: 'underline wavy var(--bad)',
        textUnderlineOffset: '3px',
    },
    '.cm-lintPoint-error::after': { borderBottomColor: 'var(--bad)' },
    '.cm-diagnostic-error': { borderLeftColor: 'var(--bad)' },
    '.cm-diagnosticAction': {
        margin: '0 0 6px 10px',
        padding: '2px 8px',
        border: '1px solid var(--line)',
        borderRadius: 'var(--radius)',
        background: 'var(--accent-soft)',
        color: 'var(--text)',
        fontFamily: 'var(--sans)',
        fontSize: '13px',
    },
    '.cm-tooltip': {
        color: 'var(--text)',
        backgroundColor: 'var(--raised)',
        border: '1px solid var(--line)',
        borderRadius: 'var(--radius)',
        boxShadow: '0 4px 16px rgb(0 0 0 / 25%)',
        maxWidth: 'min(38rem, 92vw)',
    },
    '.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--mono)', maxHeight: '15em' },
    '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '2px 8px' },
    '.cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]': {
        color: 'var(--text)',
        backgroundColor: 'var(--accent-soft)',
    },
    '.cm-completionMatchedText': { textDecoration: 'none', fontWeight: '700' },
    '.cm-completionDetail': { color: 'var(--quiet)', fontStyle: 'normal', marginLeft: '1.2em' },
    '.cm-tooltip.cm-completionInfo': { padding: '6px 10px', fontFamily: 'var(--sans)', maxWidth: '24rem' },
    '.cm-tip': { padding: '6px 10px', fontFamily: 'var(--sans)', fontSize: '13px', lineHeight: '1.45' },
    '.cm-tip-head': { fontFamily: 'var(--mono)', fontWeight: '600', overflowWrap: 'anywhere' },
    '.cm-tip-quiet': { color: 'var(--quiet)' },
    '.cm-tip-here': { color: 'var(--accent)', textDecoration: 'underline' },
    '.cm-panels': { color: 'var(--text)', backgroundColor: 'var(--raised)' },
    '.cm-panels.cm-panels-top, .cm-panels.cm-panels-bottom': { borderColor: 'var(--line)' },
    '.cm-textfield': { backgroundColor: 'var(--ground)', border: '1px solid var(--line)' },
    '.cm-button': { backgroundImage: 'none', backgroundColor: 'var(--ground)', border: '1px solid var(--line)' },
    '.cm-panel.cm-search :is(input, button, label)': { fontSize: '13px' },
    '.cm-searchMatch': { backgroundColor: 'color-mix(in srgb, var(--warn) 35%, transparent)' },
    '.cm-placeholder': { color: 'var(--quiet)' },
});

/** The editor's look, light and dark by the page's CSS variables. */
export const EDITOR_APPEARANCE: Extension = [EDITOR_THEME, syntaxHighlighting(HIGHLIGHT_COLOURS)];
