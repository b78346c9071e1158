/** The functions that a query may call: ADQL's own and those that /capabilities declares. */

import { childText, fetchDocument, findElements } from '../tap/tapRequest';
import { text } from '../text';
import { BUILT_IN } from './functionForms';

export interface FunctionInfo {
    /** ADQL's own functions in upper case */
    readonly name: string;
    /** signatures such as `POINT(lon, lat)` */
    readonly forms: readonly string[];
    readonly description: string;
}

const UDF = 'features-udf';

let asked: Promise<readonly FunctionInfo[]> | undefined;

/** Load all functions. While the service does not answer, return ADQL's own and ask again next time. */
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

/** Return the user-defined functions of /capabilities. */
function declaredFunctions(capabilities: Document): DeclaredFunction[] {
    return findElements(capabilities, 'languageFeatures')
        .filter((features) => features.getAttribute('type')?.endsWith(UDF))
        .flatMap((features) => findElements(features, 'feature'))
        .map((feature) => ({ form: childText(feature, 'form'), description: childText(feature, 'description') }));
}

/** Merge built-in and declared functions, with all signatures of one name together. */
export function functionsOf(udfs: readonly DeclaredFunction[]): FunctionInfo[] {
    const found = new Map<string, { name: string; forms: string[]; description: string }>();
    const addForm = (form: string, description: string): void => {
        const name = /^\w+/.exec(form)?.[0];
        if (name === undefined) return;
        const there = found.get(name.toUpperCase());
        if (there) there.forms.push(form);
        else found.set(name.toUpperCase(), { name, forms: [form], description });
    };
    const descriptions: Readonly<Record<string, string>> = text.editor.functions;
    for (const form of BUILT_IN) addForm(form, descriptions[/^\w+/.exec(form)![0]] ?? '');
    for (const { form, description } of udfs) addForm(form, description);
    return [...found.values()];
}

/** Split a signature into its arguments: `F(a, b[, c]) -> T` into 'a', 'b' and '[, c]'. */
export function argumentsOf(form: string): string[] {
    const inside = /^\w+\((.*?)\)(?: |$)/.exec(form)?.[1] ?? '';
    return inside === '' ? [] : inside.split(/, (?![^[]*\])|(?=\[,)/);
}
