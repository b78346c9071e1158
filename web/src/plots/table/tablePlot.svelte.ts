/** A plot of a table: settings, data, and the view. */

import { moveColumns } from '../../model/columnMoves';
import type { Field, Table } from '../../model/resultModel';
import type { View } from '../../canvas/plotView';
import { changesExtent, settingsAfterAxis } from '../layers/layerTable';
import { findErrorColumn } from '../points/errorColumns';
import type { LayerSettings } from '../points/layerSettings';
import type { PlotData } from '../points/plotData';
import type { PlotPicture } from '../points/plotPicture';
import { AXES, isPlane, type Axis, type AxisRole, type PlotSettings } from '../points/plotSettings';
import type { Manner } from '../points/pointSelection';
import { describeBox, type BoxChoice, type Drawn } from './boxConditions';
import { noteBrush } from './brushSteps';
import { FIRST_CAMERA, type Camera } from './camera';
import { defaultSettings } from './defaultSettings';
import { moveSettings } from './keptSettings';
import { loadPlotData } from './plotLoader';
import { loadRowValues, type RowValues } from './rowValues';

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

    /** Keep the settings after columns have been added or removed. */
    #followColumns(): void {
        const { fields } = this.table;
        if (this.#fields === fields) return;
        if (this.#fields.length > fields.length)
            this.settings = moveSettings(this.settings!, moveColumns(this.#fields, fields));
        this.#fields = fields;
    }

    /** Change settings; the view is kept if its axes do not change. */
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
        if (changesExtent(changes)) this.view = undefined;
    }

    setAxis(role: AxisRole, changes: Partial<Axis>): void {
        const { settings } = this;
        if (!settings) return;
        const axis = { ...settings.axes[role], ...changes };
        const error =
            role === 'flux' && changes.column !== undefined
                ? findErrorColumn(this.table.fields, axis.column)
                : settings.error;
        const isOther = changes.column !== undefined || changes.minus !== undefined;
        const layers = isOther ? settingsAfterAxis(settings.layers, role) : settings.layers;
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
