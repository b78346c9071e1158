/** Paints the map of the home page: densities, graticule, names, single rows, the drawn region. */

import { emptySky, type Theme } from '../canvas/canvasTheme';
import { pixelToCss, type Ramp } from '../canvas/colourRamps';
import type { Pen } from '../canvas/pen';
import { drawPixels } from '../canvas/pixelCanvas';
import { multiplesWithin, niceStep } from '../canvas/roundSteps';
import { DEGREE, normalizeAngle } from '../sky/directions';
import { cellOfVector, MAX_ORDER } from '../sky/healpixCells';
import { logShade } from '../sky/mapPixels';
import { frameConversion } from '../sky/skyFrames';
import { graticuleLines, strokeGeometry } from '../sky/skyLines';
import type { TurnedSky } from '../sky/turnedSky';
import { orderForScale, tileOrder, type DensityLayer } from './densityLayer.svelte';
import { makeRegionTest, outlineOf, type SkyRegion } from './skyRegion';
import type { ColourReader } from './skySurvey.svelte';

/** A row that is drawn by itself, or a name on the map. */
export interface MapMark {
    readonly ra: number;
    readonly dec: number;
    /** NaN if unknown */
    readonly magnitude: number;
    /** '' for a row without a name */
    readonly name: string;
    /** `DensityLayer.number`; -1 for names */
    readonly layer: number;
}

export interface SkyScene {
    readonly sky: TurnedSky;
    readonly layers: readonly DensityLayer[];
    /** what is behind the layers */
    readonly background: ColourReader | undefined;
    readonly marks: readonly MapMark[];
    readonly names: readonly MapMark[];
    readonly region: SkyRegion | undefined;
    readonly theme: Theme;
    /** CSS pixels in a painted pixel */
    readonly coarse: number;
}

/** Size of a cell on the map, CSS pixels. */
const CELL = 4;
/** Rows in view that the service is asked to count in finer cells: the stored cells serve for more. */
const MAX_COUNTED = 20_000_000;

/** Return the order of a layer's cells at a scale. */
const orderOf = (layer: DensityLayer, degrees: number): number =>
    Math.min(orderForScale(degrees, CELL), layer.finestOrder);

/** Return the order of the cells that a layer shows, and how a cell's rows are found. */
function cellsOf(layer: DensityLayer, degrees: number): { order: number; read: (cell: number) => number } {
    const wanted = orderOf(layer, degrees);
    const stored = Math.min(wanted, layer.storedOrder);
    const counts = layer.countsAt(stored);
    if (wanted <= layer.storedOrder || !counts) return { order: stored, read: (cell) => counts?.[cell] ?? 0 };
    const [finer, area] = [2 * (wanted - stored), 4 ** (wanted - stored)];
    return {
        order: wanted,
        // until the tile is here, the rows of the stored cell are spread over it
        read: (cell) => layer.countInTile(wanted, cell) ?? (counts[cell >>> finer] ?? 0) / area,
    };
}

/** Return the tiles of finer cells in view that a layer needs; none where its stored cells are fine enough, or too many rows are in view. */
export function tilesInView(sky: TurnedSky, layer: DensityLayer): { order: number; tiles: Set<number> } {
    const order = orderOf(layer, sky.view.degrees);
    const tiles = new Set<number>();
    if (order <= layer.storedOrder || layer.storedOrder < 0 || countInView(sky, layer) > MAX_COUNTED)
        return { order, tiles };
    const vector = new Float64Array(3);
    for (let y = 8; y < sky.view.height; y += 16)
        for (let x = 8; x < sky.view.width; x += 16)
            if (sky.vectorAt(x, y, vector))
                tiles.add(cellOfVector(tileOrder(order), vector[0]!, vector[1]!, vector[2]!));
    return { order, tiles };
}

/** Return about how many rows of a layer are in view. */
export function countInView(sky: TurnedSky, layer: DensityLayer): number {
    const order = Math.min(layer.storedOrder, orderForScale(sky.view.degrees, CELL));
    const counts = layer.countsAt(order);
    if (!counts) return Infinity;
    const cellArea = ((4 * Math.PI) / counts.length) * DEGREE ** -2;
    const [step, vector] = [8, new Float64Array(3)];
    let sum = 0;
    for (let y = step / 2; y < sky.view.height; y += step)
        for (let x = step / 2; x < sky.view.width; x += step)
            if (sky.vectorAt(x, y, vector)) sum += counts[cellOfVector(order, vector[0]!, vector[1]!, vector[2]!)] ?? 0;
    return (sum * (step * sky.view.degrees) ** 2) / cellArea;
}

export function paintSkyMap(pen: Pen, scene: SkyScene): void {
    const { sky, theme } = scene;
    const { width, height } = sky.view;
    pen.fill(0, 0, width, height, theme.ground);
    const [across, up] = [Math.ceil(width / scene.coarse), Math.ceil(height / scene.coarse)];
    pen.image(drawPixels(shadePixels(scene, across, up), across, up), 0, 0, across * scene.coarse, up * scene.coarse);
    drawGraticule(pen, sky, theme);
    drawMarks(pen, scene);
    if (scene.region) drawOutline(pen, sky, scene.region, theme);
    drawNames(pen, scene);
}

function shadePixels(scene: SkyScene, width: number, height: number): Uint32Array<ArrayBuffer> {
    const { sky, theme, coarse, background } = scene;
    const empty = emptySky(theme);
    // a table whose rows are drawn by themselves needs no cells
    const single = new Set(scene.marks.map(({ layer }) => layer));
    const celled = scene.layers.filter(({ number }) => !single.has(number));
    const layers = celled.map((layer) => ({ layer, ...cellsOf(layer, sky.view.degrees) }));
    const [cells, vector] = [new Int32Array(width * height).fill(-1), new Float64Array(3)];
    const inside = scene.region?.kind === 'moc' ? makeRegionTest(scene.region) : undefined;
    const marked = new Uint8Array(inside ? cells.length : 0);
    const pixels = new Uint32Array(cells.length);
    for (let j = 0, k = 0; j < height; j++)
        for (let i = 0; i < width; i++, k++) {
            if (!sky.vectorAt((i + 0.5) * coarse, (j + 0.5) * coarse, vector)) continue;
            const [x, y, z] = [vector[0]!, vector[1]!, vector[2]!];
            cells[k] = cellOfVector(MAX_ORDER, x, y, z);
            pixels[k] = background?.(x, y, z) || empty;
            if (inside?.(x, y, z)) marked[k] = 1;
        }
    for (const { layer, order, read } of layers) {
        const [shift, values] = [2 * (MAX_ORDER - order), new Float32Array(cells.length)];
        let [least, most] = [Infinity, 0];
        for (let k = 0; k < cells.length; k++) {
            if (cells[k]! < 0) continue;
            const value = read(cells[k]! >>> shift);
            values[k] = value;
            if (value > 0 && value < least) least = value;
            if (value > most) most = value;
        }
        if (most === 0) continue;
        const range = [least, most] as const;
        const alone = scene.layers.length === 1;
        const ramp = layerRamp(layer, alone, theme, empty);
        for (let k = 0; k < cells.length; k++) {
            if (!(values[k]! > 0)) continue;
            const shade = logShade(values[k]!, range);
            // few rows let what is below shine through
            const part = alone && !background ? 1 : 0.2 + (0.8 * shade) / 255;
            pixels[k] = mixPixels(pixels[k]!, ramp[shade]!, part * layer.opacity);
        }
    }
    if (inside)
        for (let k = 0; k < cells.length; k++) if (marked[k]) pixels[k] = mixPixels(pixels[k]!, MOC_COLOUR, 0.35);
    return pixels;
}

/** Return the colours of a layer: the page's ramp if it is the only layer, otherwise a ramp to its own colour. */
export function layerRamp(layer: DensityLayer, alone: boolean, theme: Theme, empty = emptySky(theme)): Ramp {
    if (alone) return theme.ramp;
    const colour = layerColour(layer.number, theme);
    return Uint32Array.from({ length: 256 }, (_, k) => mixPixels(empty, colour, 0.3 + (0.7 * k) / 255));
}

/** Return the colour of a layer's single rows. */
const layerColour = (number: number, { kinds }: Theme): number => kinds[number % (kinds.length - 1)]!;

/** Orange, which no ramp has. */
const MOC_COLOUR = 0xff_20_80_ff;

/** Mix two canvas pixels (0xAABBGGRR). */
function mixPixels(under: number, over: number, part: number): number {
    const mix = (shift: number) => {
        const [one, other] = [(under >>> shift) & 255, (over >>> shift) & 255];
        return Math.round(one + (other - one) * part) << shift;
    };
    return (0xff000000 | mix(16) | mix(8) | mix(0)) >>> 0;
}

const STEPS = [30, 15, 10, 5, 2, 1];

function drawGraticule(pen: Pen, sky: TurnedSky, theme: Theme): void {
    const { view } = sky;
    const span = Math.min(180, view.height * view.degrees);
    const step = span > 5 ? (STEPS.find((each) => span / each >= 4) ?? 1) : niceStep(span, 4);
    const [longitude0, latitude0] = view.centre;
    const reach = Math.min(90, (Math.hypot(view.width, view.height) / 2) * view.degrees * 1.05);
    const south = Math.max(-90, Math.floor((latitude0 - reach) / step) * step);
    const north = Math.min(90, Math.ceil((latitude0 + reach) / step) * step);
    const polar = Math.abs(latitude0) + reach >= 89;
    const wide = polar ? 180 : Math.min(180, reach / Math.cos(Math.min(89, Math.abs(latitude0) + reach) * DEGREE));
    const digits = Math.max(0, Math.ceil(-Math.log10(step) - 1e-9));
    const longitudes = multiplesWithin(longitude0 - wide, longitude0 + wide, step);
    // the poles are no lines
    const latitudes = multiplesWithin(south, north, step).filter((latitude) => Math.abs(latitude) < 90);
    const extent = { west: longitude0 - wide, east: longitude0 + wide, south, north };
    strokeGeometry(pen, sky.toProjection(), graticuleLines(longitudes, latitudes, extent), theme.quiet, 0.35);
    for (const latitude of latitudes)
        labelPosition(pen, sky, longitude0, latitude, `${latitude > 0 ? '+' : ''}${latitude.toFixed(digits)}°`, theme);
    const parallel = Math.round(latitude0 / step) * step;
    for (const longitude of longitudes) {
        const label = `${normalizeAngle(longitude).toFixed(digits)}°`;
        if (Math.abs(parallel) < 89) labelPosition(pen, sky, longitude, parallel, label, theme, 10);
    }
}

function labelPosition(
    pen: Pen,
    sky: TurnedSky,
    longitude: number,
    latitude: number,
    label: string,
    theme: Theme,
    down = 0,
): void {
    const [x, y] = sky.positionInFrame(longitude, latitude);
    const { width, height } = sky.view;
    if (x < 12 || x > width - 12 || y < 8 || y > height - 18) return;
    pen.text(label, x + 3, y + down, { colour: theme.quiet, halo: theme.ground, size: 10 });
}

function drawMarks(pen: Pen, { sky, marks, theme }: SkyScene): void {
    const brightest = marks.reduce((least, { magnitude }) => (magnitude < least ? magnitude : least), Infinity);
    for (const { ra, dec, magnitude, layer } of marks) {
        const [x, y, near] = sky.positionOf(ra, dec);
        if (!near || x < -9 || y < -9 || x > sky.view.width + 9 || y > sky.view.height + 9) continue;
        const size = Number.isFinite(magnitude) ? Math.max(2, 8 - 0.9 * (magnitude - brightest)) : 4;
        fillDisc(pen, x, y, size / 2, pixelToCss(layerColour(layer, theme)));
    }
}

function fillDisc(pen: Pen, x: number, y: number, radius: number, colour: string): void {
    for (let row = -radius; row < radius; row += 1) {
        const half = Math.sqrt(Math.max(0, radius * radius - (row + 0.5) ** 2));
        pen.fill(x - half, y + row, 2 * half, 1.05, colour);
    }
}

function drawNames(pen: Pen, { sky, names, theme }: SkyScene): void {
    const taken: { x: number; y: number; wide: number }[] = [];
    for (const { ra, dec, name } of names) {
        const [x, y, near] = sky.positionOf(ra, dec);
        const wide = pen.measure(name, 11) + 10;
        if (!near && sky.view.degrees < 0.2) continue;
        if (x < 4 || y < 8 || x + wide > sky.view.width - 4 || y > sky.view.height - 8) continue;
        if (taken.some((other) => Math.abs(other.y - y) < 15 && x < other.x + other.wide && other.x < x + wide))
            continue;
        taken.push({ x, y, wide });
        pen.fill(x - 1.5, y - 1.5, 3, 3, theme.text);
        pen.text(name, x + 6, y, { colour: theme.text, halo: theme.ground, size: 11 });
    }
}

function drawOutline(pen: Pen, sky: TurnedSky, region: SkyRegion, theme: Theme): void {
    const toFrame = frameConversion('equatorial', sky.view.frame);
    const coordinates = outlineOf(region).map((direction) => [...toFrame(...direction)]);
    strokeGeometry(pen, sky.toProjection(), { type: 'LineString', coordinates }, theme.warn, 2);
}
