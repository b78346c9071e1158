/** A plot in words: for those who do not see it, and for its status line. */

import type { Field, Table } from '../model/resultModel';
import { text } from '../text';
import { axisStyles } from './paintPlot';
import type { PlotData } from './plotData';
import { mjdToIso, shortNumber } from '../canvas/axisTicks';
import type { View } from '../canvas/plotView';

const said = text.plots;

/** What the plot shows, with ranges and the number of points. */
export function describePlot(data: PlotData, fields: readonly Field[], view: View, chosen: number, part = ''): string {
    const { kind, frame } = data.settings;
    const words: string[] = [];
    if (kind === 'sky') words.push(said.description.sky(said.frames[frame]));
    else {
        const [x, y] = axisStyles({ data, fields });
        words.push(said.description[kind](x.label, y.label));
        words.push(describeRange(x.label, [view.u0, view.u1], x.log, x.epoch));
        if (kind !== 'histogram') words.push(describeRange(y.label, [view.v0, view.v1], y.log));
    }
    words.push(said.description.points(data.points.count));
    if (part) words.push(part);
    if (chosen) words.push(said.description.chosen(chosen));
    return `${words.join('; ')}.`;
}

function describeRange(label: string, ends: readonly [number, number], log: boolean, epoch?: number): string {
    const value = (at: number) => (epoch !== undefined ? mjdToIso(at - epoch) : shortNumber(log ? 10 ** at : at));
    return said.description.range(label, value(Math.min(...ends)), value(Math.max(...ends)));
}

/** How many rows are drawn, and why the others are not. */
export function describeStatus(
    { points, settings }: PlotData,
    table: Pick<Table, 'shown' | 'state' | 'chosenCount'>,
): string {
    const twice = settings.kind === 'curve' && settings.period > 0 ? 2 : 1;
    const drawn = points.count / twice;
    const words = [said.status.points(drawn, drawn + points.missing + points.notPositive)];
    if (points.missing) words.push(said.status.missing(points.missing));
    if (points.notPositive) words.push(said.status.notPositive(points.notPositive));
    if (table.chosenCount) words.push(said.status.chosen(table.chosenCount));
    if (table.state.phase === 'loading') words.push(said.status.loading);
    return words.join(' · ');
}

/** That the rows are not the whole result; '' if they are. */
export function describePart({ state, rows }: Pick<Table, 'state' | 'rows'>): string {
    return state.phase === 'complete' && state.overflow !== undefined ? said.status.part(rows) : '';
}

/** Why there is nothing to see; '' if there is something. */
export function describeProblem(
    data: PlotData | 'columns' | undefined,
    table: Pick<Table, 'fields' | 'shown' | 'state'>,
): string {
    const waiting = table.state.phase === 'loading';
    if (!table.fields.length || data === undefined) return waiting ? said.problems.waiting : said.problems.rows;
    if (data === 'columns') {
        const numbers = table.fields.some(({ kind }) => kind !== 'text' && kind !== 'array');
        return numbers ? said.problems.columns : said.problems.noNumbers;
    }
    const { points } = data;
    if (points.count) return '';
    if (!points.missing && !points.notPositive) return waiting ? said.problems.waiting : said.problems.rows;
    return points.notPositive ? said.problems.notPositive : said.problems.values;
}
