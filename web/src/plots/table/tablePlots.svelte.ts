/** The plots of a table. Kept as long as the table. */

import type { Table } from '../../model/resultModel';
import { plotTexts } from '../../text/plotTexts';
import { defaultSettings } from './defaultSettings';
import { AXES, quantityName, type PlotKind, type PlotSettings } from '../points/plotSettings';
import { TablePlot } from './tablePlot.svelte';

/** More plots would be too small to read, and hold too much memory. */
const MOST_PLOTS = 12;

export interface NamedPlot {
    /** names its tile */
    readonly id: string;
    readonly plot: TablePlot;
}

export class TablePlots {
    list = $state.raw<readonly NamedPlot[]>([]);
    #made = 0;

    constructor(readonly table: Table) {
        this.addPlot();
    }

    readonly isFull = $derived(this.list.length >= MOST_PLOTS);

    findPlot(id: string): TablePlot | undefined {
        return this.list.find((one) => one.id === id)?.plot;
    }

    /** Add a plot with these settings, by default the first ones of the table. Return its id. */
    addPlot(settings?: PlotSettings): string {
        const plot = new TablePlot(this.table);
        plot.settings = settings;
        const id = `plot${++this.#made}`;
        this.list = [...this.list, { id, plot }];
        return id;
    }

    /** Add a plot of a kind. Return its id. */
    addKind(kind: PlotKind): string {
        return this.addPlot({ ...defaultSettings(this.table.fields), kind });
    }

    /** Add a plot that shows the same as another. Return its id. */
    duplicatePlot(of: TablePlot): string {
        const id = this.addPlot(of.settings);
        const copy = this.findPlot(id)!;
        [copy.view, copy.tool] = [of.view, of.tool];
        return id;
    }

    closePlot(id: string): void {
        this.findPlot(id)?.stopRefresh();
        this.list = this.list.filter((one) => one.id !== id);
    }

    /** Replace all plots, by at least one. */
    replaceAll(settings: readonly PlotSettings[]): void {
        for (const { plot } of this.list) plot.stopRefresh();
        [this.list, this.#made] = [[], 0];
        for (const one of settings.slice(0, MOST_PLOTS)) this.addPlot(one);
        if (!this.list.length) this.addPlot();
    }
}

/** Name a plot by its kind and its axes. */
export function plotTitle({ settings, table }: TablePlot): string {
    if (!settings) return plotTexts.plot;
    const names = AXES[settings.kind].map((role) => quantityName(table.fields, settings.axes[role])).filter(Boolean);
    const kind = plotTexts.kinds[settings.kind];
    return names.length ? `${kind}: ${names.join(', ')}` : kind;
}
