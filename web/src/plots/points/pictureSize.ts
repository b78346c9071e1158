/** The size of a picture in a file: pixels, or lengths on paper. */

import type { Size } from './plotLayout';

export const UNITS = ['px', 'mm', 'in'] as const;
export type LengthUnit = (typeof UNITS)[number];

export interface PictureSize {
    readonly width: number;
    readonly height: number;
    readonly unit: LengthUnit;
    /** pixels per inch, of lengths on paper */
    readonly dpi: number;
    /** factor on the size of texts, lines and points */
    readonly scale: number;
}

/** CSS pixels in each unit. */
const CSS_PIXELS: Record<LengthUnit, number> = { px: 1, mm: 96 / 25.4, in: 96 };

/** Canvases of browsers end at about these: Chromium 16,384 and Firefox 11,180 pixels a side where it is square. */
export const MAX_SIDE = 10_000;
export const MAX_PIXELS = 40_000_000;
/** Axes and labels need this much, in CSS pixels. */
const LEAST_SIDE = 120;

/** Return the layout's size in CSS pixels, and the file's pixels per CSS pixel. `screen`: device pixels per CSS pixel. */
export function layOutPicture(asked: PictureSize, screen: number): { size: Size; ratio: number } {
    const density = asked.unit === 'px' ? screen : asked.dpi / 96;
    const css = asked.unit === 'px' ? 1 / screen : CSS_PIXELS[asked.unit];
    const ratio = density * asked.scale;
    return { size: { width: (asked.width * css) / asked.scale, height: (asked.height * css) / asked.scale }, ratio };
}

/** Return the pixels of a file. */
export function pixelsOf(asked: PictureSize): Size {
    const perUnit = asked.unit === 'px' ? 1 : asked.unit === 'mm' ? asked.dpi / 25.4 : asked.dpi;
    return { width: Math.round(asked.width * perUnit), height: Math.round(asked.height * perUnit) };
}

/** Return the problem with a size; undefined if there is none. */
export function findSizeProblem(asked: PictureSize, screen: number): 'numbers' | 'small' | 'large' | undefined {
    const { width, height, dpi, scale } = asked;
    if (![width, height, dpi, scale].every((value) => Number.isFinite(value) && value > 0)) return 'numbers';
    const { size } = layOutPicture(asked, screen);
    if (Math.min(size.width, size.height) < LEAST_SIDE) return 'small';
    const pixels = pixelsOf(asked);
    const large = Math.max(pixels.width, pixels.height) > MAX_SIDE || pixels.width * pixels.height > MAX_PIXELS;
    return large ? 'large' : undefined;
}

/** Return a size in another unit, the same on paper. */
export function changeUnit(asked: PictureSize, unit: LengthUnit): PictureSize {
    const perInch = { px: asked.dpi, mm: 25.4, in: 1 };
    const factor = perInch[unit] / perInch[asked.unit];
    const digits = unit === 'in' ? 100 : unit === 'mm' ? 10 : 1;
    const rounded = (length: number) => Math.round(length * factor * digits) / digits;
    return { ...asked, unit, width: rounded(asked.width), height: rounded(asked.height) };
}
