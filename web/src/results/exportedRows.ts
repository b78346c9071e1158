/** Exports rows as they are shown: as files of any format, to queries, to user tables. */

import { findNameColumn } from '../plots/points/rowName';
import { fileName } from '../browser/saveFile';
import { makeRowsUpload, MAX_UPLOADED_ROWS } from '../rows/rowsUpload';
import type { Source, Table } from '../model/resultModel';
import { askService, queryBody, UNASKED } from '../tap/tapRequest';
import { fetchJob } from '../tap/uwsClient';
import { columnTexts } from '../text/columnTexts';
import type { ServiceFormat } from './serviceFormats';
import { listCondition, MAX_LISTED, writeShownQuery } from './shownQuery';

export interface ExportedRows {
    readonly table: Table;
    readonly rows: 'shown' | 'chosen';
    readonly columns: readonly number[];
}

const texts = columnTexts.exported;

function checkCount({ table, rows }: ExportedRows): void {
    const count = rows === 'chosen' ? table.chosenCount : table.shown;
    if (count > MAX_UPLOADED_ROWS) throw new Error(texts.tooMany(MAX_UPLOADED_ROWS));
}

/** Let the service write rows in a format. Raises Error with a sentence. */
export async function convertRows(exported: ExportedRows, format: ServiceFormat, signal: AbortSignal): Promise<Blob> {
    checkCount(exported);
    const { query, files, maxrec } = await makeRowsUpload(exported.table, exported.rows, exported.columns);
    const body = queryBody({ ...UNASKED, FORMAT: format.word, QUERY: query, MAXREC: maxrec }, files);
    return (await askService('sync', { method: 'POST', body, signal })).blob();
}

/** Return rows as a VOTable, which queries can upload. Raises Error with a sentence. */
export async function writeRowsFile(exported: ExportedRows, title: string): Promise<File> {
    checkCount(exported);
    const { table, rows, columns } = exported;
    const written = await table.writeText({ format: 'votable', rows, columns });
    return new File([written], fileName(title, 'vot'), { type: written.type });
}

/** Return the query whose result has these rows, and its uploads. Raises Error with a sentence. */
export async function writeRowsQuery(
    { table, rows, columns }: ExportedRows,
    source: Source,
): Promise<{ adql: string; files: Record<string, Blob> }> {
    if (source.kind === 'file') throw new Error(texts.noQuery);
    const query = source.kind === 'job' ? (await fetchJob(source.id)).query : source.query;
    const { fields, computed, sorting } = table;
    const lists = await listChosen(table, rows);
    const filters = rows === 'chosen' ? [] : table.filters.filter((filter) => !('rows' in filter));
    const adql = writeShownQuery({ query, fields, computed, filters, sorting, columns, conditions: lists });
    if (adql === undefined) throw new Error(texts.notAdql);
    return { adql, files: source.kind === 'sync' ? { ...source.files } : {} };
}

/** Return the conditions that stand for chosen rows and for selections: lists of identifiers. */
async function listChosen(table: Table, rows: ExportedRows['rows']): Promise<string[]> {
    const marks =
        rows === 'chosen'
            ? [table.chosen ?? new Uint8Array()]
            : table.filters.flatMap((filter) => ('rows' in filter ? [filter.rows] : []));
    const column = findNameColumn(table.fields);
    const conditions: string[] = [];
    for (const each of marks) {
        const listed = [...each.keys()].filter((row) => each[row]);
        if (column < 0) throw new Error(texts.noIdentifier);
        if (listed.length > MAX_LISTED) throw new Error(texts.tooManyListed(MAX_LISTED));
        const cells = await table.readRows(Uint32Array.from(listed), [column]);
        const values = cells.map(([value]) => value ?? null);
        if (values.includes(null)) throw new Error(texts.noIdentifier);
        conditions.push(listCondition(table.fields[column]!, values));
    }
    return conditions;
}
