/** Paints points, and the points of the chosen rows above them. What only depends on the scene is found once for it. */

import { cssToPixel } from '../../canvas/colourRamps';
import { drawKinds, type Scale } from '../../canvas/legend';
import type { Pen } from '../../canvas/pen';
import { drawPixels } from '../../canvas/pixelCanvas';
import { MAX_SHAPES } from './plotPicture';
import { paintShapes } from './paintShapes';
import { colourColumn } from './plotData';
import { quantityLabel } from './plotSettings';
import { legendBox, type Scene } from './plotScene';
import { countChosenPixels, pixelIndexes, type Raster } from './pointPixels';
import { countIn, hitPixels, rasterRatio, scatterPixels, usualOpacity } from './scatterPixels';

const singleColour = (colour: string) => Uint32Array.of(cssToPixel(colour));
/** Opacity of all points while some are chosen. */
const FAINT = 0.35;

/** The raster of a scene, the pixel of each of its points, and their picture. */
class PointRaster {
    readonly raster: Raster;
    readonly opacity: number;
    /** points in the view */
    readonly count: number;
    #indexes: Int32Array | undefined;
    #picture: HTMLCanvasElement | undefined;

    constructor(private readonly scene: Scene) {
        const { data, view, box, ratio } = scene;
        const area = box.width * box.height;
        const count = countIn(data.points, view);
        const fine = scene.exact ? ratio : rasterRatio(count, area, ratio);
        this.count = count;
        const size = { width: Math.round(box.width * fine), height: Math.round(box.height * fine) };
        this.raster = { view, ...size, ratio: fine };
        this.opacity = usualOpacity(count, area);
    }

    get indexes(): Int32Array {
        return (this.#indexes ??= pixelIndexes(this.scene.data.points, this.raster));
    }

    get picture(): HTMLCanvasElement {
        return (this.#picture ??= this.#drawPicture());
    }

    #drawPicture(): HTMLCanvasElement {
        const { data, theme } = this.scene;
        const { points, shades, settings } = data;
        const pixels = scatterPixels(points, this.raster, {
            size: settings.size,
            opacity: this.opacity,
            indexes: this.indexes,
            shades: shades?.points,
            continuous: shades?.type === 'values',
            colours: shades ? (shades.type === 'values' ? theme.ramp : theme.kinds) : singleColour(theme.accent),
        });
        return drawPixels(pixels, this.raster.width, this.raster.height);
    }
}

const rasters = new WeakMap<Scene, PointRaster>();

/** Return the raster of a scene's points. */
export function rasterOf(scene: Scene): PointRaster {
    const known = rasters.get(scene) ?? new PointRaster(scene);
    rasters.set(scene, known);
    return known;
}

/** Paint all points, faint while others are chosen. Return the scale of their colours. */
export function paintPoints(pen: Pen, scene: Scene, faint: boolean): Scale | undefined {
    const { data, theme, box } = scene;
    const { shades, settings } = data;
    const points = rasterOf(scene);
    if (pen.isVector && points.count <= MAX_SHAPES) paintShapes(pen, scene, points.opacity * (faint ? FAINT : 1));
    else {
        const { picture } = points;
        pen.within(box, () => pen.image(picture, box.left, box.top, box.width, box.height, faint ? FAINT : 1));
    }
    if (shades?.type === 'kinds') drawKinds(pen, legendBox(scene), shades, theme);
    if (shades?.type !== 'values') return undefined;
    const column = colourColumn(settings);
    return {
        label: quantityLabel(scene.fields, { column, minus: -1 }),
        range: shades.range,
        log: false,
        ramp: theme.ramp,
    };
}

/** Paint the points of the chosen rows. */
export function paintChosenPoints(pen: Pen, scene: Scene, chosen: Uint8Array): void {
    const { data, theme, box } = scene;
    const { raster, indexes, count } = rasterOf(scene);
    if (pen.isVector && count <= MAX_SHAPES) return paintShapes(pen, scene, 0.9, chosen);
    const hits = countChosenPixels(data.points, indexes, chosen, raster.width * raster.height);
    const mark = { size: Math.min(1, data.settings.size), least: 1.2, opacity: 0.9, colours: singleColour(theme.warn) };
    const drawn = drawPixels(hitPixels(hits, raster, mark), raster.width, raster.height);
    pen.within(box, () => pen.image(drawn, box.left, box.top, box.width, box.height));
}
