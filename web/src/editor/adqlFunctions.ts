/** The functions that a query may call: those of ADQL, and those that the service declares in /capabilities. */

import { childText, fetchDocument, findElements } from '../tap/tapRequest';
import { text } from '../text';
import { BUILT_IN } from './functionForms';

export interface FunctionInfo {
    /** as it is written: ADQL's own in upper case */
    readonly name: string;
    /** how it may be called: `POINT(lon, lat)` */
    readonly forms: readonly string[];
    readonly description: string;
}

const UDF = 'features-udf';

let asked: Promise<readonly FunctionInfo[]> | undefined;

/** All functions; those of ADQL alone while the service does not answer, which is asked again the next time. */
export async function loadFunctions(): Promise<readonly FunctionInfo[]> {
    asked ??= fetchDocument('capabilities').then((capabilities) => functionsOf(declaredFunctions(capabilities)));
    try {
        return await asked;
    } catch {
        asked = undefined;
        return functionsOf([]);
    }
}

export interface DeclaredFunction {
    /** `name(argument TYPE, ...) -> TYPE` */
    readonly form: string;
    readonly description: string;
}

/** The user defined functions of /capabilities. */
export function declaredFunctions(capabilities: Document): DeclaredFunction[] {
    return findElements(capabilities, 'languageFeatures')
        .filter((features) => features.getAttribute('type')?.endsWith(UDF))
        .flatMap((features) => findElements(features, 'feature'))
        .map((feature) => ({ form: childText(feature, 'form'), description: childText(feature, 'description') }));
}

/** Built-in functions and declared ones, the forms of one name together. */
export function functionsOf(udfs: readonly DeclaredFunction[]): FunctionInfo[] {
    const found = new Map<string, { name: string; forms: string[]; description: string }>();
    const addForm = (form: string, description: string): void => {
        const name = /^\w+/.exec(form)?.[0];
        if (name === undefined) return;
        const there = found.get(name.toUpperCase());
        if (there) there.forms.push(form);
        else found.set(name.toUpperCase(), { name, forms: [form], description });
    };
    const said: Readonly<Record<string, string>> = text.editor.functions;
    for (const form of BUILT_IN) addForm(form, said[/^\w+/.exec(form)![0]] ?? '');
    for (const { form, description } of udfs) addForm(form, description);
    return [...found.values()];
}

/** The arguments of a form: of `F(a, b[, c]) -> T` 'a', 'b' and '[, c]'. */
export function argumentsOf(form: string): string[] {
    const inside = /^\w+\((.*?)\)(?: |$)/.exec(form)?.[1] ?? '';
    return inside === '' ? [] : inside.split(/, (?![^[]*\])|(?=\[,)/);
}
