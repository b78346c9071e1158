/** A picture that can be drawn at any size, and files of it. */

import { loadPart } from '../../browser/pagePart';
import type { Theme } from '../../canvas/canvasTheme';
import { canvasPen, svgPen, type Pen } from '../../canvas/pen';
import { prepareCanvas } from '../../canvas/pixelCanvas';
import { plotTexts } from '../../text/plotTexts';
import type { Size } from './plotLayout';

/** How a picture looks in a file. */
export interface Look {
    /** in CSS pixels, in which texts have their usual size */
    readonly size: Size;
    readonly theme: Theme;
    /** pixels of the file per CSS pixel; of embedded images in vector files */
    readonly ratio: number;
}

export interface PlotPicture {
    /** its kind, for the file's name */
    readonly name: string;
    /** in words, the title of a document */
    readonly title: string;
    readonly look: Look;
    paint(pen: Pen, look: Look): void;
    /** the plotted data */
    toCsv(): Blob;
    /** Python that draws it from the rows of a result, with the imports it needs */
    toPython(): string;
    /** points that would be shapes in vector files */
    readonly points: number;
}

/** Points that vector files have as shapes; more are an image in them. A file with as many has 3 MB as SVG, 1 MB as PDF. */
export const MAX_SHAPES = 100_000;

/** Pixels per CSS pixel of images in vector files, unless the user chooses another resolution: about 300 per inch. */
export const VECTOR_RATIO = 3;

export type PictureFormat = 'png' | 'svg' | 'pdf';

/** Return a file of a picture. */
export async function writePicture(picture: PlotPicture, format: PictureFormat, look: Look): Promise<Blob> {
    if (format === 'png') return writePng(picture, look);
    const { width, height } = look.size;
    const like = canvasPen(document.createElement('canvas').getContext('2d')!, look.theme.font);
    if (format === 'svg') {
        const pen = svgPen(width, height, look.theme.font, like);
        picture.paint(pen, look);
        return new Blob([pen.document()], { type: 'image/svg+xml' });
    }
    const { pdfPen } = await loadPart(() => import('../../canvas/pdfPen'));
    const measure = (characters: string, size: number) => like.measure(characters, size);
    const draw = (characters: string, size: number, colour: string, ratio: number) => {
        const canvas = document.createElement('canvas');
        const context = prepareCanvas(canvas, measure(characters, size), 1.2 * size, ratio);
        context.font = `${size}px ${look.theme.font}`;
        context.fillStyle = colour;
        context.fillText(characters, 0, 0.96 * size);
        return canvas;
    };
    const pen = pdfPen(width, height, { measure, draw });
    picture.paint(pen, look);
    return pen.write(picture.title);
}

function writePng(picture: PlotPicture, look: Look): Promise<Blob> {
    const canvas = document.createElement('canvas');
    const context = prepareCanvas(canvas, look.size.width, look.size.height, look.ratio);
    picture.paint(canvasPen(context, look.theme.font), look);
    return new Promise((resolve, reject) =>
        canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error(plotTexts.noPicture))), 'image/png'),
    );
}
