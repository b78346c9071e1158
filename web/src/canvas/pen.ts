/** Pens that draw the same on a canvas and in an SVG document. */

import type { Box } from './plotView';

export interface TextStyle {
    readonly colour: string;
    readonly align?: 'left' | 'center' | 'right';
    readonly baseline?: 'top' | 'middle' | 'bottom';
    /** rotated a quarter to the left, for vertical axes */
    readonly upright?: boolean;
    /** outline colour that keeps text readable on a picture */
    readonly halo?: string;
    readonly size?: number;
}

/** Filled discs, drawn in order. */
export interface Discs {
    readonly x: ArrayLike<number>;
    readonly y: ArrayLike<number>;
    readonly count: number;
    /** of all, or of each, in CSS pixels */
    readonly radius: number | ArrayLike<number>;
    readonly colours: readonly string[];
    /** which of the colours each has; default: the first */
    readonly shades?: ArrayLike<number> | undefined;
    /** of one disc; overlapping ones are denser */
    readonly opacity?: number;
}

export interface Pen {
    /** it writes shapes and not pixels: many points are better discs than an image */
    readonly isVector?: boolean;
    /** a line through points x, y, x, y ... in CSS pixels */
    line(points: readonly number[], colour: string, width?: number): void;
    text(content: string, x: number, y: number, style: TextStyle): void;
    fill(x: number, y: number, width: number, height: number, colour: string): void;
    /** fill the polygon through points x, y, x, y ... */
    area(points: readonly number[], colour: string, opacity: number): void;
    discs(discs: Discs): void;
    /** a picture stretched to a rectangle */
    image(picture: HTMLCanvasElement, x: number, y: number, width: number, height: number, opacity?: number): void;
    /** clip what `draw` draws to a rectangle */
    within(box: Box, draw: () => void): void;
    /** width of a text, in CSS pixels */
    measure(content: string, size?: number): number;
}

export const TEXT_SIZE = 12;

/** Return a pen for a canvas whose context is scaled to CSS pixels. */
export function canvasPen(context: CanvasRenderingContext2D, font: string): Pen {
    const sized = (size = TEXT_SIZE) => `${size}px ${font}`;
    return {
        line(points, colour, width = 1) {
            context.strokeStyle = colour;
            context.lineWidth = width;
            context.beginPath();
            for (let k = 0; k < points.length; k += 2) context.lineTo(points[k]!, points[k + 1]!);
            context.stroke();
        },
        text(content, x, y, style) {
            context.save();
            context.translate(x, y);
            if (style.upright) context.rotate(-Math.PI / 2);
            context.font = sized(style.size);
            context.textAlign = style.align ?? 'left';
            context.textBaseline = style.baseline ?? 'middle';
            if (style.halo) {
                context.strokeStyle = style.halo;
                context.lineWidth = 3;
                context.lineJoin = 'round';
                context.strokeText(content, 0, 0);
            }
            context.fillStyle = style.colour;
            context.fillText(content, 0, 0);
            context.restore();
        },
        fill(x, y, width, height, colour) {
            context.fillStyle = colour;
            context.fillRect(x, y, width, height);
        },
        area(points, colour, opacity) {
            context.globalAlpha = opacity;
            context.fillStyle = colour;
            context.beginPath();
            for (let k = 0; k < points.length; k += 2) context.lineTo(points[k]!, points[k + 1]!);
            context.fill();
            context.globalAlpha = 1;
        },
        discs({ x, y, count, radius, colours, shades, opacity = 1 }) {
            context.globalAlpha = opacity;
            for (let k = 0; k < count; k++) {
                context.fillStyle = colours[shades ? shades[k]! : 0]!;
                context.beginPath();
                context.arc(x[k]!, y[k]!, typeof radius === 'number' ? radius : radius[k]!, 0, 2 * Math.PI);
                context.fill();
            }
            context.globalAlpha = 1;
        },
        image(picture, x, y, width, height, opacity = 1) {
            context.imageSmoothingEnabled = false;
            context.globalAlpha = opacity;
            context.drawImage(picture, x, y, width, height);
            context.globalAlpha = 1;
        },
        within(box, draw) {
            context.save();
            context.beginPath();
            context.rect(box.left, box.top, box.width, box.height);
            context.clip();
            draw();
            context.restore();
        },
        measure(content, size) {
            context.font = sized(size);
            return context.measureText(content).width;
        },
    };
}

/** The ground of transparent pictures. */
export const TRANSPARENT = 'transparent';
export const isVisible = (colour: string): boolean => colour !== TRANSPARENT;

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escapeXml = (content: string) => content.replace(/[&<>"]/g, (sign) => ESCAPES[sign]!);
const ANCHORS = { left: 'start', center: 'middle', right: 'end' } as const;
const SHIFTS = { top: '0.8em', middle: '0.35em', bottom: '-0.2em' } as const;

/** Return a pen that writes SVG; `document()` returns it. */
export function svgPen(width: number, height: number, font: string, like: Pen): Pen & { document(): string } {
    const parts: string[] = [];
    let clips = 0;
    const rounded = (value: number) => String(Math.round(value * 100) / 100);
    return {
        isVector: true,
        line(points, colour, thick = 1) {
            const through = points.map(rounded).join(' ');
            parts.push(
                `<polyline points="${through}" fill="none" stroke="${escapeXml(colour)}" stroke-width="${thick}"/>`,
            );
        },
        text(content, x, y, style) {
            const position = `translate(${rounded(x)} ${rounded(y)})${style.upright ? ' rotate(-90)' : ''}`;
            const halo =
                style.halo && isVisible(style.halo)
                    ? ` stroke="${escapeXml(style.halo)}" stroke-width="3" stroke-linejoin="round" paint-order="stroke"`
                    : '';
            parts.push(
                `<text transform="${position}" dy="${SHIFTS[style.baseline ?? 'middle']}" text-anchor="${ANCHORS[style.align ?? 'left']}"` +
                    ` font-size="${style.size ?? TEXT_SIZE}" fill="${escapeXml(style.colour)}"${halo}>${escapeXml(content)}</text>`,
            );
        },
        fill(x, y, wide, high, colour) {
            const position = `x="${rounded(x)}" y="${rounded(y)}" width="${rounded(wide)}" height="${rounded(high)}"`;
            if (isVisible(colour)) parts.push(`<rect ${position} fill="${escapeXml(colour)}"/>`);
        },
        discs({ x, y, count, radius, colours, shades, opacity = 1 }) {
            // lines of no length with round ends: the shortest form of a disc
            const alike = typeof radius === 'number' ? ` stroke-width="${rounded(2 * radius)}"` : '';
            const one = shades ? '' : ` stroke="${escapeXml(colours[0]!)}"`;
            parts.push(`<g fill="none" stroke-linecap="round" stroke-opacity="${rounded(opacity)}"${alike}${one}>`);
            const named = colours.map(escapeXml);
            for (let k = 0; k < count; k++) {
                const own = shades ? ` stroke="${named[shades[k]!]!}"` : '';
                const wide = typeof radius === 'number' ? '' : ` stroke-width="${rounded(2 * radius[k]!)}"`;
                parts.push(`<path${own}${wide} d="M${rounded(x[k]!)} ${rounded(y[k]!)}h0"/>`);
            }
            parts.push('</g>');
        },
        area(points, colour, opacity) {
            const around = points.map(rounded).join(' ');
            parts.push(`<polygon points="${around}" fill="${escapeXml(colour)}" fill-opacity="${rounded(opacity)}"/>`);
        },
        image(picture, x, y, wide, high, opacity = 1) {
            const position = `x="${rounded(x)}" y="${rounded(y)}" width="${rounded(wide)}" height="${rounded(high)}"`;
            const href = picture.toDataURL();
            const faint = opacity < 1 ? ` opacity="${opacity}"` : '';
            parts.push(
                `<image ${position} preserveAspectRatio="none" image-rendering="pixelated"${faint} href="${href}"/>`,
            );
        },
        within(box, draw) {
            const id = `clip${clips++}`;
            const [left, top, wide, high] = [box.left, box.top, box.width, box.height].map(rounded);
            parts.push(
                `<clipPath id="${id}"><rect x="${left}" y="${top}" width="${wide}" height="${high}"/></clipPath>`,
                `<g clip-path="url(#${id})">`,
            );
            draw();
            parts.push('</g>');
        },
        measure: (content, size) => like.measure(content, size),
        document: () =>
            `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"` +
            ` font-family="${escapeXml(font)}">${parts.join('')}</svg>`,
    };
}
