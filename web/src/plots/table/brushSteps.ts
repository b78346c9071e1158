/** The steps that chose rows by boxes and lines in plots, so that they can be repeated on other rows. */

import type { PlanePosition } from '../../canvas/plotView';
import type { Field, Table } from '../../model/resultModel';
import type { Drawn } from './boxConditions';
import { keepSettings, readSettings, type Json } from './keptSettings';
import { loadPlotData } from './plotLoader';
import { chosenRows, lassoArea, rectangleArea, type Manner } from '../points/pointSelection';
import type { PlotSettings } from '../points/plotSettings';

/** A box or line in a plot, and whether its rows are added to the rows chosen before. */
export interface BrushStep {
    readonly manner: Manner;
    readonly drawn: Pick<Drawn, 'tool' | 'positions'>;
    readonly settings: PlotSettings;
    /** the columns to which the settings refer; some may be removed later */
    readonly fields: readonly Field[];
}

/** Maximum number of steps that are kept. */
const MOST_STEPS = 20;

const stepsOf = new WeakMap<Uint8Array, readonly BrushStep[]>();

/** Note the step that led from the rows `before` to `rows`. */
export function noteBrush(rows: Uint8Array, step: BrushStep, before: Uint8Array | undefined): void {
    const earlier = step.manner === 'new' || !before ? [] : stepsOf.get(before);
    if (earlier && earlier.length < MOST_STEPS) stepsOf.set(rows, [...earlier, step]);
}

/** Return the steps that chose these rows; undefined if they were chosen in another way. */
export const findSteps = (rows: Uint8Array): readonly BrushStep[] | undefined => stepsOf.get(rows);

/** A step as JSON. */
export interface KeptStep {
    readonly manner: Manner;
    readonly tool: Drawn['tool'];
    /** positions; stored under this older key */
    readonly places: readonly PlanePosition[];
    readonly settings: Json;
}

/** Digits of a position: finer than any screen shows. */
const DIGITS = 9;
/** Longer lines are thinned. */
const MOST_POSITIONS = 400;

/** Return a step as JSON, with columns by name. */
export function keepStep({ manner, drawn, settings, fields }: BrushStep): KeptStep {
    const stride = Math.ceil(drawn.positions.length / MOST_POSITIONS);
    const positions = drawn.positions
        .filter((_, at) => at % stride === 0)
        .map(([u, v]): PlanePosition => [Number(u.toPrecision(DIGITS)), Number(v.toPrecision(DIGITS))]);
    return { manner, tool: drawn.tool, places: positions, settings: keepSettings(settings, fields) };
}

const isPosition = (position: unknown): position is PlanePosition =>
    Array.isArray(position) && position.length === 2 && position.every((value) => Number.isFinite(value));

/** Choose rows by kept steps. Return the names of missing columns and kinds; if there are any, no rows are chosen. */
export async function repeatSteps(table: Table, kept: readonly KeptStep[]): Promise<readonly string[]> {
    let rows: Uint8Array | undefined;
    for (const { manner, tool, places: positions, settings: written } of kept.slice(0, MOST_STEPS)) {
        if (!Array.isArray(positions) || !positions.every(isPosition) || positions.length < 2) return [];
        const { settings, unknown } = readSettings(written, table.fields);
        if (unknown.length) return unknown;
        const data = await loadPlotData(table, settings);
        if (data === 'columns') return [];
        const inside = tool === 'lasso' ? lassoArea(positions) : rectangleArea(positions[0]!, positions[1]!);
        const next = chosenRows(data.points, inside, table.rows, rows, manner);
        if (next) noteBrush(next, { manner, drawn: { tool, positions }, settings, fields: table.fields }, rows);
        rows = next;
    }
    table.chooseRows(rows);
    return [];
}
