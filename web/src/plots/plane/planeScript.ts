/** The settings of scripts that draw a plot of two axes or a map of the sky: the same columns, ranges, bins and colours. */

import { kindColours } from '../../canvas/colourRamps';
import { normalizeAngle } from '../../sky/directions';
import { unprojectPosition } from '../../sky/hammerAitoff';
import { scriptLayers } from '../layers/layerTable';
import { summarizeLayers } from '../layers/layerSummary';
import { axisStyles } from '../points/axisStyles';
import { countGrid } from '../points/binning';
import { colourColumn } from '../points/plotData';
import { WHOLE_SKY } from '../points/plotLayout';
import { degreesOf } from '../points/plotPoints';
import type { Scene } from '../points/plotScene';
import { AXES, isGalacticColumn, planeAxes } from '../points/plotSettings';
import { countIn, pointRadius, rasterRatio, usualOpacity } from '../points/scatterPixels';
import { orderFor } from '../points/skyCellCounts';
import { columnOf, commonSettings, escapeLabel, hex, quantityOf, type ScriptTable } from '../script/scriptSettings';
import { writeScript } from '../script/writeScript';
import { BIN, CELL } from './paintCounts';

/** Return the Python that draws a scene from `rows`. */
export function planePython(scene: Scene, table: ScriptTable, hasChosen = false): string {
    const { data, size } = scene;
    const { settings, shades } = data;
    const common = {
        ...commonSettings(settings.kind, table, shades, colourColumn(settings)),
        figure: [size.width, size.height].map((side) => Math.round((side / 96) * 100) / 100),
        marks: marksOf(scene),
    };
    if (settings.kind === 'sky') return writeScript({ ...common, ...skySettings(scene, table) });
    const summary = summarizeLayers(scene, undefined);
    const { layers, leftOut } = scriptLayers(scene, summary);
    const axes = planeAxes(settings).slice(0, AXES[settings.kind].length);
    const { u0, u1, v0, v1 } = scene.view;
    const plane = {
        axes: axes.map((axis) => quantityOf(table.fields, axis)),
        fold: settings.kind === 'curve' && settings.period > 0 ? foldOf(scene) : null,
        ...{ scales: scalesOf(scene), bins: binsOf(scene), cells: cellsOf(scene) },
        ...{ view: [[u0, u1], [v0, v1]], lineColour: hex(kindColours(false)[3]!), layers }, // prettier-ignore
    };
    const isSummarized = summary !== undefined && (summary.fit !== undefined || summary.binned.length > 0);
    return writeScript({ ...common, ...plane }, { leftOut, ofChosen: hasChosen && isSummarized });
}

/** Return the period and the time of phase 0 in the units of the time column. */
function foldOf({ data: { settings, columns, points } }: Scene) {
    const first = points.count ? columns[0]?.value(points.rows[0]!) : undefined;
    const isJulian = typeof first === 'number' && first > 2_400_000 && first < 2_600_000;
    return { zero: (settings.phaseZero ?? 0) + (isJulian ? 2_400_000.5 : 0), period: settings.period };
}

/** Return the options for the size and opacity of points. */
function marksOf({ data, view, box, ratio }: Scene) {
    const area = box.width * box.height;
    const count = countIn(data.points, view);
    const fine = rasterRatio(count, area, ratio);
    const raster = { view, width: Math.round(box.width * fine), height: Math.round(box.height * fine), ratio: fine };
    const radius = Math.max(0.4, pointRadius(data.points, raster) * data.settings.size);
    // the area in square points of a disc in CSS pixels
    const s = Math.round((1.5 * radius) ** 2 * 100) / 100;
    return { s, alpha: usualOpacity(count, area), linewidths: 0, rasterized: count > 20_000 };
}

function binsOf({ histogram }: Scene) {
    return histogram ? { start: histogram.start, width: histogram.width, count: histogram.counts.length } : null;
}

/** Return the cells of the picture of a density, along both axes. */
function cellsOf({ data, view, box }: Scene) {
    if (data.settings.kind !== 'density') return null;
    const grid = countGrid(data.points, view, box, BIN * data.settings.coarseness);
    return [
        { start: grid.u, width: grid.du, count: grid.columns },
        { start: grid.v, width: grid.dv, count: grid.rows },
    ];
}

/** Return scales, ranges and labels of both axes. */
function scalesOf(scene: Scene) {
    const { view, data } = scene;
    const isHistogram = data.settings.kind === 'histogram';
    const [x, y] = axisStyles(scene);
    const scale = (from: number, to: number, log: boolean, label: string) => ({
        log,
        limits: [from, to].map((end) => (log ? 10 ** end : end)),
        label: escapeLabel(label),
    });
    return [
        // the bars of a logarithmic histogram are even in the logarithm
        scale(view.u0, view.u1, x.log && !isHistogram, isHistogram && x.log ? `log10 ${x.label}` : x.label),
        scale(view.v0, view.v1, y.log, y.label),
    ];
}

function skySettings(scene: Scene, { fields }: ScriptTable) {
    const { data, view, box } = scene;
    const { settings } = data;
    const { axes, frame, skyStyle, coarseness } = settings;
    const directions = [axes.longitude, axes.latitude].map(({ column }) => ({
        column: columnOf(fields, column),
        degrees: degreesOf(fields[column]?.unit ?? ''),
    }));
    const sky = {
        columnFrame: isGalacticColumn(fields[axes.longitude.column]) ? 'galactic' : 'icrs',
        frame: frame === 'galactic' ? 'galactic' : 'icrs',
        names: frame === 'galactic' ? ['l', 'b'] : ['RA', 'Dec'],
        // degrees, the longitude in the middle
        centre: data.centre,
        region: regionOf(scene) ?? null,
        order: skyStyle === 'density' ? orderFor(view, box.width, CELL * coarseness) : null,
    };
    return { directions, sky };
}

interface Region {
    readonly west: number;
    readonly east: number;
    readonly south: number;
    readonly north: number;
}

/** Return the ends of a view in degrees, relative to the middle; undefined if it shows a large part of the sky. */
function regionOf({ view }: Scene): Region | undefined {
    if (Math.abs(view.u1 - view.u0) > 0.5 * (WHOLE_SKY.u1 - WHOLE_SKY.u0)) return undefined;
    let [west, east, south, north] = [180, -180, 90, -90];
    for (let i = 0; i <= 20; i++) {
        for (let j = 0; j <= 20; j++) {
            const u = view.u0 + ((view.u1 - view.u0) * i) / 20;
            const at = unprojectPosition(u, view.v0 + ((view.v1 - view.v0) * j) / 20);
            if (!at) return undefined;
            const away = normalizeAngle(at[0] + 180) - 180;
            [west, east] = [Math.min(west, away), Math.max(east, away)];
            [south, north] = [Math.min(south, at[1]), Math.max(north, at[1])];
        }
    }
    return { west, east, south, north };
}
