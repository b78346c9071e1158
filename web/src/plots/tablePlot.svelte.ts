/** A plot of a table: settings, data, and the view. */

import { moveColumns } from '../model/columnMoves';
import type { Field, Table } from '../model/resultModel';
import { countBins, suitableBins, type Histogram } from './binning';
import { loadPlotData, type PlotData } from './plotData';
import type { PlotPicture } from './plotPicture';
import { loadRowValues, type RowValues } from './rowValues';
import { FIRST_CAMERA, type Camera } from './spaceCamera';
import { defaultSettings, findErrorColumn } from './defaultSettings';
import { padRange, plotBox, skyView, viewOfExtent, type Size } from './plotLayout';
import { hasLegend } from './paintPlot';
import { AUTOMATIC, NO_COLUMN, type LayerSettings } from '../layers/layerSettings';
import { hasMarginals } from './offeredLayers';
import { wholeExtent } from './overlayData';
import { AXES, isPlane, isReversed, type Axis, type PlotKind, type AxisRole, type PlotSettings } from './plotSettings';
import { equalizeScales, type Box, type View } from '../canvas/plotView';
import { moveSettings } from './keptSettings';
import { describeBox, type BoxChoice, type Drawn } from './boxConditions';
import { noteBrush } from './brushSteps';
import type { Manner } from './pointSelection';

/** Least milliseconds between two looks at a growing table, and the factor on the time of the last one. */
const BETWEEN = 400;
const REST = 3;

export const TOOLS = ['move', 'zoom', 'rectangle', 'lasso'] as const;
export type Tool = (typeof TOOLS)[number];

/** A box or line around rows, and the rows chosen before if its own were added to or taken from them. */
export interface Brushed {
    readonly drawn: Drawn;
    readonly manner: Manner;
    readonly before?: Uint8Array | undefined;
}

export class TablePlot {
    settings = $state.raw<PlotSettings | undefined>();
    data = $state.raw<PlotData | 'columns' | undefined>();
    /** of corner plots and plots in space */
    values = $state.raw<RowValues | 'columns' | undefined>();
    /** where a plot in space is looked at from */
    camera = $state.raw<Camera>(FIRST_CAMERA);
    /** what can be saved of a corner plot or a plot in space */
    picture = $state.raw<PlotPicture | undefined>();
    /** error message */
    failure = $state('');
    /** the user's view; undefined: everything */
    view = $state.raw<View | undefined>();
    tool = $state<Tool>('move');
    /** its options are hidden, and it is not closed by mistake */
    pinned = $state(false);
    /** the box of the chosen rows, if they were chosen by one */
    brushed = $state.raw<BoxChoice | undefined>();

    /** the columns that the settings mean */
    #fields: readonly Field[] = [];
    #wanted: PlotSettings | undefined;
    #running = false;
    #again = false;
    #timer: ReturnType<typeof setTimeout> | undefined;
    #done = { at: -Infinity, took: 0 };

    constructor(readonly table: Table) {}

    /** Load the table again after a change of it or of the settings; a growing table now and then. */
    refresh(): void {
        if (!this.settings && this.table.fields.length) this.settings = defaultSettings(this.table.fields);
        if (!this.settings) return;
        this.#followColumns();
        if (this.#running) return void (this.#again = true);
        const changed = this.#wanted !== this.settings;
        const due = this.#done.at + Math.max(BETWEEN, REST * this.#done.took) - performance.now();
        clearTimeout(this.#timer);
        if (changed || due <= 0) void this.#loadData(this.settings);
        else this.#timer = setTimeout(() => this.refresh(), due);
    }

    /** Keep the settings with their columns, of which some were added or removed. */
    #followColumns(): void {
        const { fields } = this.table;
        if (this.#fields === fields) return;
        if (this.#fields.length > fields.length)
            this.settings = moveSettings(this.settings!, moveColumns(this.#fields, fields));
        this.#fields = fields;
    }

    /** Change settings; the view stays if its axes do. */
    changeSettings(changes: Partial<PlotSettings>): void {
        if (!this.settings) return;
        const before = this.settings;
        const next = { ...before, ...changes };
        this.settings = next;
        if (changes.frame || 'centre' in changes || 'period' in changes || 'phaseZero' in changes)
            this.view = undefined;
        if (changes.kind && AXES[changes.kind] !== AXES[before.kind]) {
            const alike = AXES[changes.kind].join() === AXES[before.kind].join();
            if (!alike) this.view = undefined;
        }
    }

    changeLayers(changes: Partial<LayerSettings>): void {
        if (this.settings) this.settings = { ...this.settings, layers: { ...this.settings.layers, ...changes } };
        // the ranges cover all overlays
        if (changes.overlays) this.view = undefined;
    }

    setAxis(role: AxisRole, changes: Partial<Axis>): void {
        const { settings } = this;
        if (!settings) return;
        const axis = { ...settings.axes[role], ...changes };
        const error =
            role === 'flux' && changes.column !== undefined
                ? findErrorColumn(this.table.fields, axis.column)
                : settings.error;
        const layers = role === 'x' || role === 'y' ? layersOfAxis(settings.layers, role, changes) : settings.layers;
        const centre = role === 'longitude' || role === 'latitude' ? undefined : settings.centre;
        this.settings = { ...settings, axes: { ...settings.axes, [role]: axis }, error, centre, layers };
        this.view = undefined;
    }

    /** Choose rows; `by` is the box or line around them, if they were chosen by one. */
    chooseRows(rows: Uint8Array | undefined, by: Brushed | undefined): void {
        const { data, table } = this;
        this.brushed = undefined;
        if (rows && by && data && data !== 'columns') {
            if (by.manner === 'new') this.brushed = describeBox(data, table.fields, by.drawn, rows);
            // the plane of a map depends on the longitude in its middle
            const settings = data.settings.kind === 'sky' ? { ...data.settings, centre: data.centre } : data.settings;
            const { fields } = table;
            noteBrush(rows, { manner: by.manner, drawn: by.drawn, settings, fields }, by.before);
        }
        table.chooseRows(rows);
    }

    /** Stop refreshing. */
    stopRefresh(): void {
        clearTimeout(this.#timer);
    }

    async #loadData(settings: PlotSettings): Promise<void> {
        const start = performance.now();
        this.#running = true;
        this.#wanted = settings;
        try {
            if (isPlane(settings.kind)) this.data = await loadPlotData(this.table, settings);
            else this.values = await loadRowValues(this.table, settings);
            this.failure = '';
        } catch (error) {
            this.failure = error instanceof Error ? error.message : String(error);
        }
        this.#done = { at: performance.now(), took: performance.now() - start };
        this.#running = false;
        if (this.#again || this.settings !== settings) {
            this.#again = false;
            this.refresh();
        }
    }
}

/** Return the layers for a changed axis: error columns that were chosen for another quantity are found anew. */
function layersOfAxis(layers: LayerSettings, role: 'x' | 'y', changes: Partial<Axis>): LayerSettings {
    if (changes.column === undefined && changes.minus === undefined) return layers;
    const [lower, upper] = [`${role}Error`, `${role}ErrorUp`] as const;
    return { ...layers, [lower]: layers[lower] >= 0 ? AUTOMATIC : layers[lower], [upper]: NO_COLUMN };
}

/** The layout of a picture. */
export interface Arrangement {
    readonly box: Box;
    readonly view: View;
    readonly histogram: Histogram | undefined;
}

/** Return box and view: the user's view, else all points. */
export function arrangeScene(
    data: PlotData,
    table: Pick<Table, 'fields'>,
    size: Size,
    looked: View | undefined,
): Arrangement {
    const { settings, points, layers } = data;
    const box = plotBox(size, settings.kind === 'sky', hasLegend(data), hasMarginals(settings));
    if (settings.kind === 'sky')
        return { box, view: looked ? equalizeScales(looked, box) : skyView(data, box), histogram: undefined };
    const [horizontal, vertical] = axesOf(settings.kind).map((role) => settings.axes[role]);
    const reversed = {
        u:
            isReversed(table.fields, horizontal!) && settings.kind !== 'histogram'
                ? true
                : horizontal!.reversed === true,
        v: vertical !== undefined && isReversed(table.fields, vertical),
    };
    const view = looked ?? viewOfExtent(wholeExtent(points.extent, layers.overlays), reversed);
    if (settings.kind !== 'histogram') return { box, view, histogram: undefined };
    const [low, high] = [Math.min(view.u0, view.u1), Math.max(view.u0, view.u1)];
    const bins = settings.bins || suitableBins(points.u, low, high);
    const overlays = layers.overlays.map((one) =>
        one.points ? countBins(one.points, low, high, bins).counts : new Float64Array(),
    );
    const counted = { ...countBins(points, low, high, bins), overlays };
    return { box, view: { ...view, ...countRange(counted, settings.logCounts) }, histogram: counted };
}

const axesOf = (kind: PlotKind) => AXES[kind];

/** Return the vertical range of a histogram. */
function countRange({ counts, overlays = [] }: Histogram, log: boolean): { v0: number; v1: number } {
    const most = [counts, ...overlays].flatMap((own) => [...own]).reduce((one, other) => Math.max(one, other), 1);
    if (log) return { v0: Math.log10(0.5), v1: padRange(0, Math.log10(most))[1] + 0.05 };
    return { v0: 0, v1: most * 1.06 };
}
