/** Facts about a table: row counts, sky density, links, services, citations. */

import { quoteLiteral } from '../adql/adqlNames';
import { queryRows } from '../tap/jsonRows';
import { askService, childText, findElements, queryBody, parseXml, UNASKED } from '../tap/tapRequest';

/** Row counts in HEALPix cells (NESTED, ICRS). */
export interface Density {
    readonly order: number;
    readonly cells: readonly number[];
    readonly counts: readonly number[];
    /** rows without a valid position */
    readonly withoutPosition: number;
}

export interface RowCount {
    readonly rows: number;
    /** missing for tables without positions */
    readonly density?: Density;
    /** address of its HATS collection; missing for tables without one */
    readonly hats?: string;
}

/** Load the row count of a table and its density. Raises TapError. */
export async function loadRowCount(table: string): Promise<RowCount> {
    const answer = await askService(`tables/${encodeURIComponent(table)}/density`);
    return rowCountOf((await answer.json()) as DensityAnswer);
}

type DensityAnswer = Partial<Omit<Density, 'order'>> & {
    readonly rows: number;
    readonly order?: number | null;
    readonly hats?: string | null;
};

export function rowCountOf(answer: DensityAnswer): RowCount {
    const { rows, order, cells = [], counts = [], withoutPosition = 0, hats } = answer;
    if (typeof order !== 'number') return { rows };
    return { rows, density: { order, cells, counts, withoutPosition }, ...(hats && { hats }) };
}

export interface ColumnLink {
    /** the column whose values the link takes */
    readonly column: string;
    readonly title: string;
    readonly href: string;
    readonly contentType: string;
}

export interface TableService {
    readonly name: string;
    readonly description: string;
    readonly address: string;
    /** IVOA standard of the service, such as DataLink; '' if none */
    readonly standard: string;
    /** columns whose values its parameters take */
    readonly columns: readonly string[];
}

export interface TableFacts {
    readonly links: readonly ColumnLink[];
    readonly services: readonly TableService[];
    readonly citations: readonly string[];
    readonly rights: readonly string[];
}

/** Load links, services and citations from an empty result. Raises TapError. */
export async function loadFacts(table: string): Promise<TableFacts> {
    const body = queryBody({ ...UNASKED, FORMAT: 'votable/td', MAXREC: 0, QUERY: `SELECT * FROM ${table}` });
    return factsOf(parseXml(await (await askService('sync', { method: 'POST', body })).text()));
}

export function factsOf(votable: Document): TableFacts {
    const fields = findElements(votable, 'FIELD');
    const infosNamed = (name: string) =>
        findElements(votable, 'INFO')
            .filter((info) => info.getAttribute('name') === name)
            .map((info) => info.getAttribute('value') ?? '');
    return {
        links: fields.flatMap((field) => findElements(field, 'LINK').map((link) => linkOf(field, link))),
        services: findElements(votable, 'RESOURCE')
            .filter((resource) => resource.getAttribute('utype') === 'adhoc:service')
            .map((resource) => serviceOf(resource, fields)),
        citations: infosNamed('citation'),
        rights: infosNamed('rights'),
    };
}

function linkOf(field: Element, link: Element): ColumnLink {
    const href = link.getAttribute('href') ?? '';
    return {
        column: field.getAttribute('name') ?? '',
        title: link.getAttribute('title') ?? href,
        href,
        contentType: link.getAttribute('content-type') ?? '',
    };
}

function serviceOf(resource: Element, fields: readonly Element[]): TableService {
    const parameters = findElements(resource, 'PARAM');
    const value = (name: string) =>
        parameters.find((each) => each.getAttribute('name') === name)?.getAttribute('value') ?? '';
    const columns = parameters.flatMap((each) => {
        const field = fields.find((candidate) => candidate.getAttribute('ID') === each.getAttribute('ref'));
        return field ? [field.getAttribute('name') ?? ''] : [];
    });
    return {
        name: resource.getAttribute('name') ?? '',
        description: childText(resource, 'DESCRIPTION'),
        address: value('accessURL'),
        standard: standardName(value('standardID')),
        columns,
    };
}

/** Shorten `ivo://ivoa.net/std/DataLink#links-1.1` to "DataLink links 1.1". */
function standardName(id: string): string {
    return id.replace(/^ivo:\/\/ivoa\.net\/std\//i, '').replace(/[#-]/g, ' ');
}

/** A table that refers to this one. */
export interface Referrer {
    readonly table: string;
    readonly from: string;
    readonly to: string;
}

/** Load the foreign keys that refer to the table, a row per pair of columns. Raises TapError. */
export async function loadReferrers(table: string): Promise<Referrer[]> {
    const found = await queryRows(
        'SELECT k.from_table, c.from_column, c.target_column\n' +
            'FROM TAP_SCHEMA.keys AS k JOIN TAP_SCHEMA.key_columns AS c ON k.key_id = c.key_id\n' +
            `WHERE k.target_table = ${quoteLiteral(table)}\nORDER BY 1, 2`,
    );
    return found.data.map(([from, column, target]) => ({
        table: String(from),
        from: String(column),
        to: String(target),
    }));
}

/** Load the names of a table's principal columns. Raises TapError. */
export async function loadPrincipals(table: string): Promise<ReadonlySet<string>> {
    const found = await queryRows(
        `SELECT column_name FROM TAP_SCHEMA.columns WHERE table_name = ${quoteLiteral(table)} AND principal = 1`,
    );
    return new Set(found.data.map(([name]) => String(name)));
}
