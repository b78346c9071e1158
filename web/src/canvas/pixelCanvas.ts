/** Canvases of pixels. */

/** Return a canvas with these pixels (0xAABBGGRR, by rows). */
export function drawPixels(pixels: Uint32Array<ArrayBuffer>, width: number, height: number): HTMLCanvasElement {
    const canvas = document.createElement('canvas');
    canvas.width = width;
    canvas.height = height;
    const data = new ImageData(new Uint8ClampedArray(pixels.buffer), width, height);
    canvas.getContext('2d')!.putImageData(data, 0, 0);
    return canvas;
}

/** Resize and clear a canvas of device pixels. Return its context scaled to CSS pixels. */
export function prepareCanvas(canvas: HTMLCanvasElement, width: number, height: number, ratio: number) {
    canvas.width = Math.max(1, Math.round(width * ratio));
    canvas.height = Math.max(1, Math.round(height * ratio));
    const context = canvas.getContext('2d')!;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    return context;
}
