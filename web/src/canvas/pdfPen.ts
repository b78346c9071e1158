/** A pen that writes a page of PDF: lines, discs and texts as such, pictures as images. */

import { cssParts } from './colourRamps';
import { PdfFile, pdfNumber, pdfText } from './pdfFile';
import { splitRuns, type Run } from './pdfFonts';
import { isVisible, TEXT_SIZE, type Pen, type TextStyle } from './pen';

/** Points of PDF (1/72 inch) in a CSS pixel (1/96 inch). */
const POINTS = 0.75;
/** Pixels of pictured characters for each CSS pixel. */
const FINE = 4;

/** What the page's fonts lack. */
export interface GlyphSource {
    measure(characters: string, size: number): number;
    /** a picture of characters, whose base line is at 0.8 of its height of 1.2 sizes */
    draw(characters: string, size: number, colour: string, ratio: number): HTMLCanvasElement;
}

interface Picture {
    readonly width: number;
    readonly height: number;
    readonly pixels: Uint8ClampedArray;
}

const n = pdfNumber;

/** Write the path through points x, y, x, y ... */
const pathOf = (points: readonly number[]): string =>
    points.map(n).join(' ').replace(/(\S+ \S+) ?/g, '$1 l ').replace(' l ', ' m '); // prettier-ignore

/** Return a pen for a page of a size in CSS pixels; `write()` returns the file. */
export function pdfPen(
    width: number,
    height: number,
    glyphs: GlyphSource,
): Pen & { write(title: string): Promise<Blob> } {
    const content: string[] = [`${POINTS} 0 0 ${-POINTS} 0 ${n(height * POINTS)} cm 1 j`];
    const opacities: number[] = [];
    const pictures: Picture[] = [];
    const runsWidth = (runs: readonly Run[], size: number) =>
        runs.reduce((sum, run) => sum + (run.font ? run.width * size : glyphs.measure(run.characters, size)), 0);

    /** Name the graphics state of an opacity. */
    function nameOpacity(opacity: number): string {
        const held = Math.round(opacity * 100) / 100;
        if (!opacities.includes(held)) opacities.push(held);
        return `/A${Math.round(held * 100)}`;
    }

    function faintly(opacity: number, draw: () => void): void {
        if (opacity >= 1) return draw();
        content.push('q', `${nameOpacity(opacity)} gs`);
        draw();
        content.push('Q');
    }

    function image(picture: HTMLCanvasElement, x: number, y: number, wide: number, high: number): void {
        const pixels = picture.getContext('2d')!.getImageData(0, 0, picture.width, picture.height).data;
        const name = `/I${pictures.push({ width: picture.width, height: picture.height, pixels }) - 1}`;
        content.push(`q ${n(wide)} 0 0 ${n(-high)} ${n(x)} ${n(y + high)} cm ${name} Do Q`);
    }

    /** Write the runs of a text from the position (x, y) of its base line. */
    function writeRuns(runs: readonly Run[], size: number, x: number, y: number, style: TextStyle): void {
        const [along, up] = style.upright ? ['0 -1', '-1 0'] : ['1 0', '0 -1'];
        let done = 0;
        for (const run of runs) {
            const [left, base] = style.upright ? [x, y - done] : [x + done, y];
            if (run.font) {
                const letters = run.bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('');
                const font = `/${run.font[0]} ${n(size * run.scale)} Tf ${n(size * run.rise)} Ts`;
                content.push(`BT ${font} ${along} ${up} ${n(left)} ${n(base)} Tm <${letters}> Tj ET`);
                done += run.width * size;
                continue;
            }
            const wide = glyphs.measure(run.characters, size);
            const picture = glyphs.draw(run.characters, size, style.colour, FINE);
            content.push(style.upright ? `q 0 -1 1 0 ${n(left)} ${n(base)} cm` : `q 1 0 0 1 ${n(left)} ${n(base)} cm`);
            image(picture, 0, -0.96 * size, wide, 1.2 * size);
            content.push('Q');
            done += wide;
        }
    }

    return {
        isVector: true,
        line(points, colour, thick = 1) {
            const { rgb, alpha } = cssParts(colour);
            faintly(alpha, () => content.push(`${rgb.map(n).join(' ')} RG ${n(thick)} w ${pathOf(points)}S`));
        },
        text(said, x, y, style) {
            const size = style.size ?? TEXT_SIZE;
            const runs = splitRuns(said);
            const shift = { left: 0, center: 0.5, right: 1 }[style.align ?? 'left'] * runsWidth(runs, size);
            const drop = { top: 0.76, middle: 0.36, bottom: -0.22 }[style.baseline ?? 'middle'] * size;
            const [left, base] = style.upright ? [x + drop, y + shift] : [x - shift, y + drop];
            if (style.halo && isVisible(style.halo)) {
                content.push(`/Artifact BMC q 1 Tr 3 w ${cssParts(style.halo).rgb.map(n).join(' ')} RG`);
                writeRuns(runs, size, left, base, style);
                content.push('Q EMC');
            }
            content.push(`/Span << /ActualText ${pdfText(said)} >> BDC`);
            content.push(`${cssParts(style.colour).rgb.map(n).join(' ')} rg`);
            writeRuns(runs, size, left, base, style);
            content.push('EMC');
        },
        fill(x, y, wide, high, colour) {
            if (!isVisible(colour)) return;
            const { rgb, alpha } = cssParts(colour);
            faintly(alpha, () =>
                content.push(`${rgb.map(n).join(' ')} rg ${[x, y, wide, high].map(n).join(' ')} re f`),
            );
        },
        area(points, colour, opacity) {
            const { rgb, alpha } = cssParts(colour);
            faintly(opacity * alpha, () => content.push(`${rgb.map(n).join(' ')} rg ${pathOf(points)}h f`));
        },
        discs({ x, y, count, radius, colours, shades, opacity = 1 }) {
            const inks = colours.map((colour) => `${cssParts(colour).rgb.map(n).join(' ')} RG`);
            faintly(opacity, () => {
                // lines of no length with round ends
                content.push(`q 1 J ${inks[0]} ${typeof radius === 'number' ? `${n(2 * radius)} w` : ''}`);
                let [ink, wide] = [0, -1];
                for (let k = 0; k < count; k++) {
                    if (shades && shades[k] !== ink) content.push(inks[(ink = shades[k]!)]!);
                    if (typeof radius !== 'number' && radius[k] !== wide)
                        content.push(`${n(2 * (wide = radius[k]!))} w`);
                    const position = `${n(x[k]!)} ${n(y[k]!)}`;
                    content.push(`${position} m ${position} l S`);
                }
                content.push('Q');
            });
        },
        image(picture, x, y, wide, high, opacity = 1) {
            faintly(opacity, () => image(picture, x, y, wide, high));
        },
        within(box, draw) {
            content.push(`q ${[box.left, box.top, box.width, box.height].map(n).join(' ')} re W n`);
            draw();
            content.push('Q');
        },
        measure: (said, size = TEXT_SIZE) => runsWidth(splitRuns(said), size),
        write: (title) => writePage({ title, width, height, content, opacities, pictures }),
    };
}

interface Page {
    readonly title: string;
    readonly width: number;
    readonly height: number;
    readonly content: readonly string[];
    readonly opacities: readonly number[];
    readonly pictures: readonly Picture[];
}

async function writePage({ title, width, height, content, opacities, pictures }: Page): Promise<Blob> {
    const file = new PdfFile();
    const helvetica = file.add('<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>');
    const symbol = file.add('<< /Type /Font /Subtype /Type1 /BaseFont /Symbol >>');
    const states = opacities.map((value) => `/A${Math.round(value * 100)} << /CA ${n(value)} /ca ${n(value)} >>`);
    const images: string[] = [];
    for (const [k, picture] of pictures.entries()) images.push(`/I${k} ${await addImage(file, picture)}`);
    const drawing = await file.addStream('', new TextEncoder().encode(content.join('\n')));
    const resources = `<< /Font << /H ${helvetica} /S ${symbol} >> /ExtGState << ${states.join(' ')} >> /XObject << ${images.join(' ')} >> >>`;
    // the tree of pages comes after its page, whose parent it is
    const pageNumber = Number.parseInt(drawing, 10) + 1;
    const size = `[0 0 ${n(width * POINTS)} ${n(height * POINTS)}]`;
    const page = file.add(
        `<< /Type /Page /Parent ${pageNumber + 1} 0 R /MediaBox ${size} /Resources ${resources} /Contents ${drawing} >>`,
    );
    const pages = file.add(`<< /Type /Pages /Kids [${page}] /Count 1 >>`);
    const catalogue = file.add(`<< /Type /Catalog /Pages ${pages} >>`);
    return file.write(catalogue, file.add(`<< /Title ${pdfText(title)} /Producer ${pdfText('Skyhouse')} >>`));
}

/** Add an image with its transparency. Return the reference to it. */
async function addImage(file: PdfFile, { width, height, pixels }: Picture): Promise<string> {
    const count = width * height;
    const [colours, alphas] = [new Uint8Array(3 * count), new Uint8Array(count)];
    for (let k = 0; k < count; k++) {
        for (let part = 0; part < 3; part++) colours[3 * k + part] = pixels[4 * k + part]!;
        alphas[k] = pixels[4 * k + 3]!;
    }
    const common = `/Type /XObject /Subtype /Image /Width ${width} /Height ${height} /BitsPerComponent 8`;
    const mask = alphas.every((alpha) => alpha === 255)
        ? ''
        : ` /SMask ${await file.addStream(`${common} /ColorSpace /DeviceGray`, alphas)}`;
    return file.addStream(`${common} /ColorSpace /DeviceRGB${mask}`, colours);
}
