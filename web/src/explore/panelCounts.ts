/** The counts of a panel, scaled to the table, from its sample and the finer one. */

import { projectDirection } from '../sky/hammerAitoff';
import type { TableExplorer } from './tableExplorer.svelte';
import { suitableRange, type SampledRows } from './sampledRows';
import type { Range } from './tableFilters';

/** Rows of the table in each cell of a panel. */
export interface PanelCounts {
    /** rows that meet all filters */
    readonly kept: Float64Array;
    /** rows that meet the filters of the other panels: at least `kept` */
    readonly around: Float64Array;
}

/**
 * Count a panel's cells. Rows that meet all filters are taken from the finer sample if there is one, all others from the
 * sample of the whole table.
 *
 * @param own Names of the panel's quantities, or 'sky'.
 * @param cellsOf Returns the cell of each row of a sample.
 */
export function countPanel(
    { sample, usedFiner }: TableExplorer,
    size: number,
    own: readonly string[],
    cellsOf: (rows: SampledRows) => Uint16Array,
): PanelCounts {
    const [kept, around] = [new Float64Array(size), new Float64Array(size)];
    if (!sample) return { kept, around };
    const whole = sample.countCells(cellsOf(sample), size, own);
    const used = usedFiner ?? sample;
    const fine = used === sample ? whole : used.countCells(cellsOf(used), size, own);
    const [scale, fineScale] = [100 / sample.percent, 100 / used.percent];
    for (let cell = 0; cell < size; cell++) {
        kept[cell] = fine.kept[cell]! * fineScale;
        around[cell] = kept[cell]! + (whole.around[cell]! - whole.kept[cell]!) * scale;
    }
    return { kept, around };
}

const kept = new WeakMap<SampledRows, Map<string, unknown>>();

/** Return what `make` makes of a sample, cached under `key` as long as the sample is. */
export function keepFor<Value>(rows: SampledRows, key: string, make: () => Value): Value {
    const known = kept.get(rows) ?? new Map<string, unknown>();
    kept.set(rows, known);
    if (!known.has(key)) known.set(key, make());
    return known.get(key) as Value;
}

/** Return the range of a quantity that its panels show: all of it, or its filter with some room. */
export function shownRange({ page, sample }: TableExplorer, name: string): Range {
    const filter = page.filters.ranges.get(name);
    if (page.zoomed && filter && filter.max > filter.min && Number.isFinite(filter.max - filter.min)) {
        const room = (filter.max - filter.min) * 0.15;
        return { min: filter.min - room, max: filter.max + room };
    }
    const values = sample?.valuesOf(name);
    return values ? keepFor(sample!, `range ${name}`, () => suitableRange(values)) : { min: 0, max: 1 };
}

/** Return the positions of all rows on a map with this longitude in the middle. */
export function positionsOnSky(rows: SampledRows, centre: number): readonly [Float64Array, Float64Array] {
    return keepFor(rows, `positions ${centre}`, () => {
        const [u, v] = [new Float64Array(rows.rows), new Float64Array(rows.rows)];
        const [longitudes, latitudes] = rows.position!;
        for (let row = 0; row < rows.rows; row++)
            [u[row], v[row]] = projectDirection(longitudes[row]!, latitudes[row]!, centre);
        return [u, v] as const;
    });
}
