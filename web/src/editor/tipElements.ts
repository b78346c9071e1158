/** The editor's tips as elements: for completion, hover and calls. */

import { formatUnit } from '../text/unitFormat';
import type { Column } from '../tap/vosiTables';
import { text } from '../text';
import { argumentsOf, type FunctionInfo } from './adqlFunctions';

const MAX_FORMS = 4;

/** Create an element with a text and a class. */
export function makeElement(tag: string, content: string, name = ''): HTMLElement {
    const element = document.createElement(tag);
    element.textContent = content;
    if (name) element.className = name;
    return element;
}

/** Create a tip with a head and lines; empty lines are left out. */
function makeTip(head: Node | string, ...lines: readonly string[]): HTMLElement {
    const element = makeElement('div', '', 'cm-tip');
    element.append(typeof head === 'string' ? makeElement('div', head, 'cm-tip-head') : head);
    for (const [index, line] of lines.entries())
        if (line) element.append(makeElement('div', line, index === 0 ? 'cm-tip-quiet' : ''));
    return element;
}

/** Describe a column: type, unit, UCD and description. */
export function columnTip(name: string, column: Column, table = ''): HTMLElement {
    const type = column.xtype || column.datatype + (column.arraysize && `(${column.arraysize})`);
    const facts = [type, formatUnit(column.unit), column.ucd, column.indexed ? text.editor.indexed : ''];
    return makeTip([table, name].filter(Boolean).join('.'), facts.filter(Boolean).join(' · '), column.description);
}

export function tableTip(name: string, description: string, kind: string): HTMLElement {
    return makeTip(name, kind, description);
}

/** Describe a function: signatures and description. */
export function functionTip({ forms, description }: FunctionInfo): HTMLElement {
    const head = makeElement('div', forms.slice(0, MAX_FORMS).join('\n'), 'cm-tip-head');
    head.style.whiteSpace = 'pre-wrap';
    return makeTip(head, forms.length > MAX_FORMS ? text.editor.moreForms(forms.length - MAX_FORMS) : '', description);
}

/** Show the signatures of a call with the current argument marked. */
export function callTip({ forms }: FunctionInfo, argument: number): HTMLElement {
    const element = makeElement('div', '', 'cm-tip');
    for (const form of forms.filter((one) => hasArgument(one, argument)).slice(0, MAX_FORMS)) {
        const line = makeElement('div', '', 'cm-tip-head');
        const given = argumentsOf(form);
        const marked = Math.min(argument, given.length - 1);
        line.append(form.slice(0, form.indexOf('(') + 1));
        given.forEach((one, index) => {
            if (index > 0 && !one.startsWith('[')) line.append(', ');
            line.append(index === marked ? makeElement('span', one, 'cm-tip-here') : one);
        });
        line.append(form.slice(form.indexOf('(') + 1 + joinArguments(given).length));
        element.append(line);
    }
    return element;
}

const joinArguments = (given: readonly string[]): string => given.join(', ').replaceAll(', [,', '[,');

/** Whether the signature has an argument of this index. */
function hasArgument(form: string, argument: number): boolean {
    const given = argumentsOf(form);
    return argument < given.length || given.at(-1) === '...' || argument === 0;
}
