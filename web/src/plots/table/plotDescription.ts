/** A plot in words: for screen readers and the status line. */

import type { Field, Table } from '../../model/resultModel';
import { plotTexts } from '../../text/plotTexts';
import { axisStyles } from '../points/axisStyles';
import type { PlotData } from '../points/plotData';
import type { PlotKind } from '../points/plotSettings';
import type { RowValues } from './rowValues';
import { mjdToIso, shortNumber } from '../../canvas/axisTicks';
import type { View } from '../../canvas/plotView';

const texts = plotTexts;

/** Describe what the plot shows, with ranges, the number of points, and further notes. */
export function describePlot(
    data: PlotData,
    fields: readonly Field[],
    view: View,
    chosen: number,
    notes: readonly string[] = [],
): string {
    const { kind, frame } = data.settings;
    const words: string[] = [];
    if (kind === 'sky') words.push(texts.description.sky(texts.frames[frame]));
    else {
        const [x, y] = axisStyles({ data, fields });
        words.push(texts.description[kind](x.label, y.label));
        words.push(describeRange(x.label, [view.u0, view.u1], x.log, x.epoch));
        if (kind !== 'histogram') words.push(describeRange(y.label, [view.v0, view.v1], y.log));
    }
    words.push(texts.description.points(data.points.count));
    words.push(...notes);
    if (chosen) words.push(texts.description.chosen(chosen));
    return `${words.join('; ')}.`;
}

function describeRange(label: string, ends: readonly [number, number], log: boolean, epoch?: number): string {
    const value = (at: number) => (epoch !== undefined ? mjdToIso(at - epoch) : shortNumber(log ? 10 ** at : at));
    return texts.description.range(label, value(Math.min(...ends)), value(Math.max(...ends)));
}

/** Describe how many rows are drawn and why others are not. */
export function describeStatus(
    { points, settings }: PlotData,
    table: Pick<Table, 'shown' | 'state' | 'chosenCount'>,
): string {
    const twice = settings.kind === 'curve' && settings.period > 0 ? 2 : 1;
    const drawn = points.count / twice;
    const words = [texts.status.points(drawn, drawn + points.missing + points.notPositive)];
    if (points.missing) words.push(texts.status.missing(points.missing));
    if (points.notPositive) words.push(texts.status.notPositive(points.notPositive));
    if (table.chosenCount) words.push(texts.status.chosen(table.chosenCount));
    if (table.state.phase === 'loading') words.push(texts.status.loading);
    return words.join(' · ');
}

/** Describe a corner plot or a plot in space, with the ranges of its quantities and the number of points. */
export function describeValues({ settings, axes, rows }: RowValues, chosen: number, part = ''): string {
    const kind = settings.kind === 'space' ? 'space' : 'corner';
    const words: string[] = [texts.description[kind](...axes.map(({ label }) => label))];
    for (const { label, range, log } of axes) words.push(describeRange(label, range, log));
    words.push(texts.description.points(rows.length));
    if (part) words.push(part);
    if (chosen) words.push(texts.description.chosen(chosen));
    return `${words.join('; ')}.`;
}

/** Describe how many rows a corner plot or a plot in space has, and why it has no others. */
export function describeValuesStatus(
    { settings, rows, missing, notPositive, beyond }: RowValues,
    table: Pick<Table, 'state' | 'chosenCount'>,
): string {
    const words = [texts.status.points(rows.length, rows.length + missing + notPositive + beyond)];
    if (missing) words.push(texts.status.missing(missing));
    const isDistance = settings.kind === 'space' && settings.space.by === 'positions';
    if (notPositive) words.push((isDistance ? texts.status.noDistance : texts.status.notPositive)(notPositive));
    if (beyond) words.push(texts.status.beyond(beyond));
    if (table.chosenCount) words.push(texts.status.chosen(table.chosenCount));
    if (table.state.phase === 'loading') words.push(texts.status.loading);
    return words.join(' · ');
}

/** Explain why a corner plot or a plot in space is empty; '' if it is not. */
export function describeValuesProblem(values: RowValues | 'columns' | undefined, table: Pick<Table, 'state'>): string {
    const waiting = table.state.phase === 'loading';
    if (values === 'columns') return texts.problems.columns;
    if (!values) return texts.problems.waiting;
    if (values.rows.length) return '';
    if (values.notPositive) return texts.problems.notPositive;
    return values.missing ? texts.problems.together : waiting ? texts.problems.waiting : texts.problems.rows;
}

/** Describe that the rows are only part of the result; '' if they are all of it. */
export function describePart({ state, rows }: Pick<Table, 'state' | 'rows'>): string {
    return state.phase === 'complete' && state.overflow !== undefined ? texts.status.part(rows) : '';
}

/** Explain why the plot is empty; '' if it is not. */
export function describeProblem(
    data: PlotData | 'columns' | undefined,
    table: Pick<Table, 'fields' | 'shown' | 'state'>,
    kind?: PlotKind,
): string {
    const waiting = table.state.phase === 'loading';
    if (!table.fields.length || data === undefined) return waiting ? texts.problems.waiting : texts.problems.rows;
    if (data === 'columns') {
        const numbers = table.fields.some(({ kind }) => kind !== 'text' && kind !== 'array');
        if (!numbers) return texts.problems.noNumbers;
        return kind === 'sky' ? texts.problems.positions : texts.problems.columns;
    }
    const { points } = data;
    if (points.count) return '';
    if (!points.missing && !points.notPositive) return waiting ? texts.problems.waiting : texts.problems.rows;
    return points.notPositive ? texts.problems.notPositive : texts.problems.values;
}
