/** LINKs and service descriptors of a result, followed for a row (VOTable 1.5, DataLink 1.1 section 4). */

import { childText, findElements } from '../tap/tapRequest';
import type { Cell } from '../model/resultModel';

/** An address with `${ID}` for the values of columns. */
export interface LinkTemplate {
    readonly href: string;
    readonly title: string;
    readonly contentType: string;
    /** the columns in `href`, by their IDs */
    readonly columns: ReadonlyMap<string, number>;
}

export interface RowService {
    readonly name: string;
    readonly description: string;
    readonly accessUrl: string;
    readonly isDatalink: boolean;
    /** parameters that a column or a constant supplies */
    readonly inputs: readonly { readonly name: string; readonly column: number; readonly value: string }[];
    /** names of the parameters that only the user can supply */
    readonly asked: readonly string[];
}

export interface ResultLinks {
    /** per column, the links whose address depends on the row */
    readonly links: ReadonlyMap<number, readonly LinkTemplate[]>;
    readonly services: readonly RowService[];
}

/** Read the links of the first table with fields. */
export function readResultLinks(about: Document): ResultLinks {
    const fields = findElements(about, 'FIELD');
    const columns = new Map<string, number>();
    // an ID counts before a name
    for (const attribute of ['ID', 'name'])
        fields.forEach((field, column) => {
            const key = field.getAttribute(attribute);
            if (key && !columns.has(key)) columns.set(key, column);
        });
    const links = new Map<number, LinkTemplate[]>();
    fields.forEach((field, column) => {
        const found = findElements(field, 'LINK').flatMap((link) => readTemplate(link, columns) ?? []);
        if (found.length) links.set(column, found);
    });
    const resources = findElements(about, 'RESOURCE').filter(
        (resource) => resource.getAttribute('utype') === 'adhoc:service',
    );
    return { links, services: resources.flatMap((resource) => readService(resource, columns) ?? []) };
}

const PLACEHOLDER = /\$\{([^}]+)\}/g;

function readTemplate(link: Element, all: ReadonlyMap<string, number>): LinkTemplate | undefined {
    const href = link.getAttribute('href') ?? '';
    const names = [...href.matchAll(PLACEHOLDER)].map((found) => found[1]!);
    if (!names.length || !isWebAddress(href.replace(PLACEHOLDER, 'x')) || names.some((name) => !all.has(name)))
        return undefined;
    return {
        href,
        title: link.getAttribute('title') ?? '',
        contentType: link.getAttribute('content-type') ?? '',
        columns: new Map(names.map((name) => [name, all.get(name)!])),
    };
}

function readService(resource: Element, columns: ReadonlyMap<string, number>): RowService | undefined {
    const groups = findElements(resource, 'GROUP').filter((group) => group.getAttribute('name') === 'inputParams');
    const inner = groups.flatMap((group) => findElements(group, 'PARAM'));
    const valueOf = (name: string) =>
        findElements(resource, 'PARAM')
            .find((param) => param.getAttribute('name') === name && !inner.includes(param))
            ?.getAttribute('value') ?? '';
    const accessUrl = valueOf('accessURL');
    if (!isWebAddress(accessUrl)) return undefined;
    const inputs = inner.map((param) => ({
        name: param.getAttribute('name') ?? '',
        column: columns.get(param.getAttribute('ref') ?? '') ?? -1,
        value: param.getAttribute('value') ?? '',
    }));
    return {
        name: resource.getAttribute('name') ?? resource.getAttribute('ID') ?? '',
        description: childText(resource, 'DESCRIPTION'),
        accessUrl,
        isDatalink: /^ivo:\/\/ivoa\.net\/std\/datalink/i.test(valueOf('standardID')),
        inputs: inputs.filter(({ column, value }) => column >= 0 || value),
        asked: inputs.filter(({ column, value }) => column < 0 && !value).map(({ name }) => name),
    };
}

/** Whether a text is an http or https address. */
export function isWebAddress(value: unknown): value is string {
    return typeof value === 'string' && /^https?:\/\/[^\s<>"]+$/i.test(value) && URL.canParse(value);
}

/** Return the address of a link in a row; undefined if a value is missing. */
export function fillTemplate(link: LinkTemplate, valueOf: (column: number) => Cell | undefined): string | undefined {
    const values = new Map([...link.columns].map(([name, column]) => [name, valueOf(column) ?? null]));
    if ([...values.values()].includes(null)) return undefined;
    // encoded, a value cannot leave its index in the address
    const filled = link.href.replace(PLACEHOLDER, (_, name: string) => encodeURIComponent(String(values.get(name))));
    return isWebAddress(filled) ? filled : undefined;
}

/** Return the address of a service with a row's values; undefined if a value is missing. */
export function serviceAddress(service: RowService, valueOf: (column: number) => Cell | undefined): string | undefined {
    const address = new URL(service.accessUrl);
    for (const { name, column, value } of service.inputs) {
        const given = column >= 0 ? (valueOf(column) ?? null) : value;
        if (given === null) return undefined;
        address.searchParams.append(name, String(given));
    }
    return address.href;
}
