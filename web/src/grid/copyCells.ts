/** Copies rows or cells to the clipboard. */

import { counted, text } from '../text';
import { copyText } from '../browser/clipboard';
import type { GridState } from './gridState.svelte';
import type { Table, TextRequest } from '../model/resultModel';

/** More cells need a file. */
export const MAX_CELLS = 2_000_000;

/** Copy the marked block, otherwise the chosen rows, otherwise the active cell. Return the message. */
export async function copyBlock(grid: GridState): Promise<string> {
    const { table, block } = grid;
    const { shown } = grid.arrangement;
    if (!grid.corner && table.chosenCount) return copyRows(table, 'tsv', shown);
    const columns = shown.slice(block.from.slot, block.to.slot + 1);
    const rows = { from: block.from.index, to: block.to.index + 1 };
    const cells = columns.length * (rows.to - rows.from);
    return writeToClipboard(table, { format: 'tsv', rows, columns, bare: true }, cells, counted(cells, 'cell'));
}

/** Copy columns of the chosen rows, otherwise of the shown rows, with a header line. Return the message. */
export function copyRows(table: Table, format: 'csv' | 'tsv', columns: readonly number[]): Promise<string> {
    const rows = table.chosenCount ? 'chosen' : 'shown';
    const number = table.chosenCount || table.shown;
    return writeToClipboard(table, { format, rows, columns }, number * columns.length, counted(number, 'row'));
}

async function writeToClipboard(table: Table, what: TextRequest, cells: number, words: string): Promise<string> {
    const texts = text.results.copy;
    if (cells > MAX_CELLS) return texts.tooMuch(words);
    const written = await (await table.writeText(what)).text();
    // a single cell is pasted without a line end
    const done = await copyText(what.bare ? written.replace(/\r?\n$/, '') : written);
    return done ? texts.done(words) : texts.refused;
}
