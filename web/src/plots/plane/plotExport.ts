/** The data of a plot as CSV. */

import { joinLines, unscaleValue } from '../points/csvLines';
import { countChosen, countGrid } from '../points/binning';
import { BIN, CELL } from './paintCounts';
import type { Scene } from '../points/plotScene';
import { orderFor } from '../points/skyCellCounts';

/** Return the shown data as CSV: points, or bins with counts. */
export function exportCsv(scene: Scene, chosen: Uint8Array | undefined): Blob {
    return new Blob(csvLines(scene, chosen), { type: 'text/csv' });
}

/** Return lines of CSV in blocks. */
export function csvLines(
    scene: Pick<Scene, 'data' | 'view' | 'box' | 'histogram'>,
    marks: Uint8Array | undefined,
): string[] {
    const { kind, skyStyle } = scene.data.settings;
    if (kind === 'histogram') return histogramLines(scene, marks);
    if (kind === 'density') return densityLines(scene);
    if (kind === 'sky' && skyStyle === 'density') return mapLines(scene);
    return pointLines(scene);
}

function histogramLines(
    { histogram, data }: Pick<Scene, 'histogram' | 'data'>,
    marks: Uint8Array | undefined,
): string[] {
    if (!histogram) return [];
    const { start, width, counts } = histogram;
    const chosen = marks && countChosen(histogram, data.points, marks);
    const name = data.columns[0]!.name;
    const value = (edge: number) => unscaleValue(start + edge * width, data.settings.axes.value.log);
    const head = [`${name}_from`, `${name}_to`, 'rows', ...(chosen ? ['chosen'] : [])];
    const bins = Array.from(counts, (count, bin) => [
        value(bin),
        value(bin + 1),
        count,
        ...(chosen ? [chosen[bin]!] : []),
    ]);
    return joinLines([head, ...bins]);
}

function densityLines({ data, view, box }: Pick<Scene, 'data' | 'view' | 'box'>): string[] {
    const grid = countGrid(data.points, view, box, BIN * data.settings.coarseness);
    const { x, y } = data.settings.axes;
    const rows: (string | number)[][] = [[data.columns[0]!.name, data.columns[1]!.name, 'rows']];
    grid.counts.forEach((count, at) => {
        if (!count) return;
        const u = grid.u + ((at % grid.columns) + 0.5) * grid.du;
        const v = grid.v + (Math.floor(at / grid.columns) + 0.5) * grid.dv;
        rows.push([unscaleValue(u, x.log), unscaleValue(v, y.log), count]);
    });
    return joinLines(rows);
}

function mapLines({ data, view, box }: Pick<Scene, 'data' | 'view' | 'box'>): string[] {
    const order = orderFor(view, box.width, CELL * data.settings.coarseness);
    const rows: (string | number)[][] = [[`healpix_nested_icrs_order_${order}`, 'rows']];
    data.cells!.countCells(order).forEach((count, cell) => {
        if (count) rows.push([cell, count]);
    });
    return joinLines(rows);
}

const ROWS_AT_ONCE = 20_000;

function pointLines({ data, view }: Pick<Scene, 'data' | 'view'>): string[] {
    const { points, columns } = data;
    const pieces = joinLines([['row', ...columns.map(({ name }) => name)]]);
    const [u0, u1] = [Math.min(view.u0, view.u1), Math.max(view.u0, view.u1)];
    const [v0, v1] = [Math.min(view.v0, view.v1), Math.max(view.v0, view.v1)];
    // a folded curve has every row twice
    const count = data.settings.kind === 'curve' && data.settings.period > 0 ? points.count / 2 : points.count;
    for (let from = 0; from < count; from += ROWS_AT_ONCE) {
        const rows: (string | number)[][] = [];
        for (let k = from; k < Math.min(count, from + ROWS_AT_ONCE); k++) {
            const [u, v] = [points.u[k]!, points.v[k]!];
            const row = points.rows[k]!;
            const shown = count < points.count || (u >= u0 && u <= u1 && v >= v0 && v <= v1);
            if (shown) rows.push([row + 1, ...columns.map(({ value }) => value(row))]);
        }
        pieces.push(joinLines(rows).join(''));
    }
    return pieces;
}
