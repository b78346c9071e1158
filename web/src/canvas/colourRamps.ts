/**
 * Colour ramps with evenly changing lightness, readable without distinguishing hues, computed in OKLCh (Ottosson 2020).
 * The least value stands out from the background, the greatest most.
 */

/** 256 colours from the least to the greatest value, as canvas pixels: 0xAABBGGRR. */
export type Ramp = Uint32Array;

/** Lightness and hue at the ends of a ramp. */
const DARK = { lightness: [0.42, 0.97], hue: [290, 100] } as const;
const LIGHT = { lightness: [0.83, 0.24], hue: [125, 290] } as const;
const CHROMA = 0.15;

/** Return the ramp for a dark or light background. */
export function makeRamp(dark: boolean): Ramp {
    const { lightness, hue } = dark ? DARK : LIGHT;
    const between = (ends: readonly [number, number], part: number) => ends[0] + (ends[1] - ends[0]) * part;
    return Uint32Array.from({ length: 256 }, (_, k) =>
        packPixel(...oklchInGamut(between(lightness, k / 255), CHROMA, between(hue, k / 255))),
    );
}

/** Hues with their lightness on a light and on a dark background, distinct by lightness too. */
const KINDS = [
    [255, 0.48, 0.72],
    [55, 0.62, 0.8],
    [160, 0.4, 0.86],
    [25, 0.52, 0.66],
    [310, 0.42, 0.8],
    [110, 0.58, 0.92],
    [205, 0.6, 0.6],
    [350, 0.58, 0.84],
] as const;

/** Kinds with their own colour; the rest share a grey. */
export const KIND_COUNT = KINDS.length;

/** Return the colours of kinds (bands, classes), as canvas pixels; the last is for all others. */
export function kindColours(dark: boolean): Ramp {
    const own = KINDS.map(([hue, light, bright]) => packPixel(...oklchInGamut(dark ? bright : light, 0.17, hue)));
    return Uint32Array.from([...own, packPixel(...oklchInGamut(dark ? 0.65 : 0.55, 0, 0))]);
}

/** Convert a canvas pixel to a CSS colour. */
export function pixelToCss(pixel: number): string {
    return `rgb(${pixel & 255} ${(pixel >> 8) & 255} ${(pixel >> 16) & 255})`;
}

/** Convert a computed CSS colour ("rgb(1, 2, 3)", "color(srgb 0.1 0.2 0.3)") to an opaque canvas pixel. */
export function cssToPixel(colour: string): number {
    const parts = colour.match(/[\d.]+(?:e-?\d+)?/g)?.map(Number) ?? [];
    const scale = colour.startsWith('color(') ? 255 : 1;
    return packPixel((parts[0] ?? 0) * scale, (parts[1] ?? 0) * scale, (parts[2] ?? 0) * scale);
}

/** Return the components of a computed CSS colour, each from 0 to 1. */
export function cssParts(colour: string): { readonly rgb: readonly [number, number, number]; readonly alpha: number } {
    const pixel = cssToPixel(colour);
    const alpha = colour.match(/[\d.]+(?:e-?\d+)?/g)?.[3];
    return {
        rgb: [(pixel & 255) / 255, ((pixel >> 8) & 255) / 255, ((pixel >> 16) & 255) / 255],
        alpha: alpha === undefined ? 1 : Number(alpha),
    };
}

/** Pack red, green and blue (0 to 255) into an opaque canvas pixel. */
export function packPixel(red: number, green: number, blue: number): number {
    return ((255 << 24) | (Math.round(blue) << 16) | (Math.round(green) << 8) | Math.round(red)) >>> 0;
}

/** Return a colour with a part of another in it, 0 to 1. */
export function mixColours(pixel: number, other: number, part: number): number {
    const mixed = (shift: number) => ((pixel >> shift) & 255) * (1 - part) + ((other >> shift) & 255) * part;
    return packPixel(mixed(0), mixed(8), mixed(16));
}

/** Return WCAG's relative luminance of a pixel, 0 to 1. */
export function luminanceOf(pixel: number): number {
    const linear = (byte: number) => (byte <= 10 ? byte / 3294.6 : ((byte / 255 + 0.055) / 1.055) ** 2.4);
    return 0.2126 * linear(pixel & 255) + 0.7152 * linear((pixel >> 8) & 255) + 0.0722 * linear((pixel >> 16) & 255);
}

/** Convert OKLCh to RGB, with less chroma if sRGB cannot show it. */
function oklchInGamut(lightness: number, chroma: number, hue: number): [number, number, number] {
    for (let least = chroma; least > 0.001; least *= 0.95) {
        const colour = oklchToRgb(lightness, least, hue);
        if (colour.every((part) => part >= 0 && part <= 255)) return colour;
    }
    const [red, green, blue] = oklchToRgb(lightness, 0, hue);
    const held = (part: number) => Math.max(0, Math.min(255, part));
    return [held(red), held(green), held(blue)];
}

function oklchToRgb(lightness: number, chroma: number, hue: number): [number, number, number] {
    const a = chroma * Math.cos((hue * Math.PI) / 180);
    const b = chroma * Math.sin((hue * Math.PI) / 180);
    const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
    const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
    const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
    const encoded = (part: number) => 255 * (part <= 0.0031308 ? 12.92 * part : 1.055 * part ** (1 / 2.4) - 0.055);
    return [
        encoded(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
        encoded(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
        encoded(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s),
    ];
}
