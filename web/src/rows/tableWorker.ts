/** The worker that holds one table: it loads, sorts, filters and answers the page. */

import { ResultLoader } from './resultLoader';
import { ArrangedRows } from './arrangedRows';
import type { WorkerCalls, FromWorker, Progress, ToWorker } from './workerMessages';
import type { Cell, TextRequest } from '../model/resultModel';
import { writeLine } from '../model/separatedText';
import { filledVotable, writeRow } from '../model/votableText';
import { markedRows, rowRange } from './rowFilter';

const scope = self as unknown as DedicatedWorkerGlobalScope;
const store = new ArrangedRows();
const loading = new ResultLoader(store, (news) => scope.postMessage(news satisfies FromWorker));

/** Values of a computed column that are shown before it is added. */
const PREVIEWED = 5;
/** Rows that are joined to one string: none may exceed the engine's limit. */
const BLOCK = 4096;

const columnsOf = (columns?: readonly number[]) => columns ?? [...store.fields.keys()];

const calls: WorkerCalls = {
    readPage: (from, to, columns) => store.readPage(from, to, columns),
    readNumbers: (column) => store.readNumbers(column),
    readOrder: () => store.rowsAt(0, store.shown),
    summarizeColumn: (column) => store.summarizeColumn(column),
    arrange(sorting, filters): Progress {
        store.arrangeRows(sorting, filters);
        return loading.reportProgress(true);
    },
    computeColumns(plans, sorting, filters) {
        store.computeColumns(plans);
        store.arrangeRows(sorting, filters);
        return { ...loading.reportProgress(true), fields: store.fields };
    },
    previewColumn: (plan) => store.previewColumn(plan, [...store.rowsAt(0, PREVIEWED)]),
    countFacets: (columns) => store.countFacets(columns),
    readRows: (rows, columns) => Array.from(rows, (row) => store.readRow(row, columns)),
    writeText: (what, chosen) => writtenRows(what, chosen),
    stop: () => loading.stop(),
};

/** Write rows as a VOTable, perhaps with their numbers. */
function writtenVotable(what: TextRequest, chosen: Uint8Array | undefined): Blob {
    const columns = columnsOf(what.columns);
    const fields = columns.map((column) => store.fields[column]!);
    if (what.numbered) fields.push({ name: what.numbered, datatype: 'int', kind: 'number' });
    const pieces: string[] = [];
    const piece: string[] = [];
    for (const [number, row] of rowsToWrite(what, chosen).entries()) {
        const cells = store.readRow(row, columns);
        piece.push(writeRow(what.numbered ? [...cells, number] : cells));
        if (piece.length >= BLOCK) pieces.push(piece.splice(0).join(''));
    }
    return filledVotable(fields, [...pieces, piece.join('')]);
}

/** Write rows as text. */
function writtenRows(what: TextRequest, chosen: Uint8Array | undefined): Blob {
    const { format } = what;
    if (format === 'votable') return writtenVotable(what, chosen);
    const columns = columnsOf(what.columns);
    const pieces: string[] = [];
    if (!what.bare) pieces.push(writeLine(columns.map((column) => store.fields[column]?.name ?? '') as Cell[], format));
    let piece: string[] = [];
    for (const row of rowsToWrite(what, chosen)) {
        piece.push(writeLine(store.readRow(row, columns), format));
        if (piece.length >= BLOCK) pieces.push(piece.splice(0).join(''));
    }
    pieces.push(piece.join(''));
    piece = [];
    return new Blob(pieces, { type: format === 'csv' ? 'text/csv' : 'text/tab-separated-values' });
}

function rowsToWrite({ rows }: TextRequest, chosen: Uint8Array | undefined): Uint32Array {
    if (typeof rows === 'object') return store.rowsAt(rows.from, rows.to);
    if (rows === 'shown') return store.rowsAt(0, store.shown);
    if (!chosen) return rowRange(0, 0);
    const shown = store.rowsAt(0, store.shown).filter((row) => chosen[row]);
    const seen = new Set(shown);
    return Uint32Array.from([...shown, ...markedRows(chosen).filter((row) => !seen.has(row))]);
}

/** Return the buffers to transfer instead of copying. */
function findTransfers(value: unknown): Transferable[] {
    if (ArrayBuffer.isView(value)) return [value.buffer as ArrayBuffer];
    if (value && typeof value === 'object' && 'rows' in value && ArrayBuffer.isView(value.rows))
        return [value.rows.buffer as ArrayBuffer];
    return [];
}

scope.onmessage = ({ data }: MessageEvent<ToWorker>) => {
    if ('open' in data) {
        void loading.loadResult(data.open);
        return;
    }
    try {
        const value = (calls[data.call] as (...given: unknown[]) => ReturnType<WorkerCalls[keyof WorkerCalls]>)(
            ...data.with,
        );
        scope.postMessage({ id: data.id, value } satisfies FromWorker, findTransfers(value));
    } catch (error) {
        scope.postMessage({ id: data.id, failed: String(error) } satisfies FromWorker);
    }
};
