/** The interface of the layers of a plot. */

import type { Component } from 'svelte';
import type { Pen } from '../../canvas/pen';
import type { Field, Table } from '../../model/resultModel';
import type { LayerSettings } from '../points/layerSettings';
import type { LayerData, PlotData } from '../points/plotData';
import type { Size } from '../points/plotLayout';
import type { Extent } from '../points/plotPoints';
import type { Scene } from '../points/plotScene';
import type { AxisRole, PlotKind, PlotSettings } from '../points/plotSettings';
import type { ScriptLayers } from '../script/scriptSettings';
import type { BinnedValue } from '../../statistics/binnedValues';
import type { LineFit } from '../../statistics/lineFit';
import type { Contour } from './densityContours';

/** A layer: what a plot of two axes shows besides its points. */
export interface Layer {
    /** in words, also for a script that leaves it out */
    readonly title: string;
    /** the kinds of plot that offer it */
    readonly kinds: readonly PlotKind[];
    /** whether a plot of an offered kind can have it; by default always */
    readonly fits?: (settings: PlotSettings) => boolean;
    isOn(layers: LayerSettings): boolean;
    readonly kept: KeptLayer;
    /** the settings after another quantity was chosen for an axis */
    readonly afterAxis?: (layers: LayerSettings, role: AxisRole) => Partial<LayerSettings>;
    /** Load its data from the table. */
    readonly load?: (source: LayerSource) => Promise<Partial<LayerData>>;
    /** Compute its summary of the rows in view or of the chosen rows. Called if the layer is shown. */
    readonly summarize?: (rows: SummaryRows) => Partial<LayerSummary>;
    /** the room that it needs above the plot and to its right, in CSS pixels */
    readonly margin?: (size: Size) => number;
    /** what the axes must cover besides the plot's own points */
    readonly extents?: (data: PlotData) => readonly Extent[];
    /** the counts of other results in the bins of a histogram */
    readonly countBins?: (data: PlotData, count: (points: PlotData['points']) => Float64Array) => Float64Array[];
    readonly paint: LayerPainter;
    /** Describe the layer. */
    readonly describe: (data: PlotData, fields: readonly Field[], summary: LayerSummary | undefined) => string[];
    /** Explain why it cannot be shown. */
    readonly explain?: (data: PlotData) => string[];
    /** what a script draws of it; a layer without this is named as left out */
    readonly script?: (scene: Scene, summary: LayerSummary | undefined) => ScriptLayers;
    /** a table of it that can be saved; undefined without content */
    readonly file?: {
        readonly name: string;
        readonly title: string;
        readonly lines: (fields: readonly Field[], summary: LayerSummary) => string[] | undefined;
    };
    /** the settings that users change */
    readonly Options: Component<OptionsOfLayer>;
}

/** How a plot's painter calls a layer, from the bottom to the top. Painters test themselves what there is to paint. */
export interface LayerPainter {
    /** below the points; `faint` while rows are chosen */
    readonly under?: (pen: Pen, scene: Scene, faint: boolean) => void;
    /** above the points */
    readonly over?: (pen: Pen, scene: Scene, faint: boolean) => void;
    /** the chosen rows */
    readonly chosen?: (pen: Pen, scene: Scene, chosen: Uint8Array) => void;
    /** in the box of the plot, the lines of a summary that belongs to the axes shown */
    readonly lines?: (pen: Pen, scene: Scene, summary: LayerSummary) => void;
    /** the same, above all lines */
    readonly marks?: (pen: Pen, scene: Scene, summary: LayerSummary) => void;
    /** words above everything; without a summary that belongs to the axes shown, it is undefined */
    readonly words?: (pen: Pen, scene: Scene, summary: LayerSummary | undefined) => void;
}

/** How the settings of a layer are kept. */
export interface KeptLayer {
    readonly usual: Partial<LayerSettings>;
    /** settings that are columns of the table */
    readonly columns?: readonly (keyof LayerSettings)[];
    /** settings that are one of several words */
    readonly words?: Partial<Record<keyof LayerSettings, readonly string[]>>;
    /** what reads kept settings whose parts have no default */
    readonly readers?: Partial<Record<keyof LayerSettings, (kept: unknown) => unknown>>;
}

/** The summaries of the layers of a plot. */
export interface LayerSummary {
    readonly settings: PlotSettings;
    readonly contours: readonly Contour[];
    readonly binned: readonly BinnedValue[];
    readonly fit: LineFit | undefined;
    /** a line is wanted, but there are too few rows of different x */
    readonly unfit: boolean;
    /** the rows of the means and of the line */
    readonly basis: 'chosen' | 'view';
    readonly weighted: boolean;
}

/** A scene as far as summaries need it. */
export type SummaryScene = Pick<Scene, 'data' | 'view' | 'box'>;

/** The rows that are summarized. */
export interface SummaryRows {
    readonly scene: SummaryScene;
    /** the points of the chosen rows, or of the rows in view if none are chosen */
    readonly members: () => Uint32Array;
}

export interface LayerSource {
    readonly table: Table;
    readonly settings: PlotSettings;
    readonly alignment: Alignment;
}

/** What the points of the plot were projected or folded by. */
export interface Alignment {
    /** longitude in the middle of a map */
    readonly centre: number;
    /** offset of the times of a light curve from MJD; undefined if they are no dates */
    readonly dayOffset: number | undefined;
}

/** A plot whose layers can be changed. */
export interface LayerHost {
    readonly table: Table;
    readonly settings: PlotSettings | undefined;
    changeLayers(changes: Partial<LayerSettings>): void;
}

export interface OptionsOfLayer {
    readonly plot: LayerHost;
    readonly settings: PlotSettings;
    readonly summary: LayerSummary | undefined;
}

/** Whether a plot can have a layer. */
export const canHave = (layer: Pick<Layer, 'kinds' | 'fits'>, settings: PlotSettings): boolean =>
    layer.kinds.includes(settings.kind) && (layer.fits?.(settings) ?? true);

/** Whether a plot has a layer, as its settings say. */
export const isShown = (layer: Pick<Layer, 'kinds' | 'fits' | 'isOn'>, settings: PlotSettings): boolean =>
    canHave(layer, settings) && layer.isOn(settings.layers);
