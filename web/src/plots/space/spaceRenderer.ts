/** Draws the points of a plot in space with WebGL: opaque discs with a depth buffer, and finds the one at a position. */

import { plotTexts } from '../../text/plotTexts';
import { clipMatrix, type Projection } from './spaceCamera';
import { FRAGMENT_SHADER, VERTEX_SHADER } from './spaceShaders';

export interface SpacePoints {
    readonly count: number;
    /** x, y, z in the cube for each point */
    readonly positions: Float32Array<ArrayBuffer>;
    /** red, green, blue and size for each point */
    readonly looks: Uint8Array<ArrayBuffer>;
}

export interface SpaceFrame {
    readonly projection: Projection;
    /** device pixels per CSS pixel */
    readonly ratio: number;
    /** radius of the smallest disc and of the largest, in CSS pixels */
    readonly radii: readonly [number, number];
    /** components from 0 to 1 */
    readonly ground: readonly [number, number, number];
    readonly mark: readonly [number, number, number];
    /** some rows are chosen: the others are faint */
    readonly faint: boolean;
    /** share of the points to draw, while the picture moves */
    readonly share: number;
}

/** More points are not drawn finer than the screen for smooth edges: that costs four times the pixels. */
const MANY = 200_000;

/** Return the pixels per CSS pixel to draw with: twice as fine as a coarse screen, which smooths the edges of discs. */
export const renderRatio = (points: number, ratio: number): number => (points <= MANY && ratio < 2 ? 2 * ratio : ratio);
/** Pixels around the pointer in which a point is found. */
const REACH = 5;

export class SpaceRenderer {
    readonly #gl: WebGL2RenderingContext;
    #program: WebGLProgram | undefined;
    #points: SpacePoints | undefined;
    #chosen: Uint8Array | undefined;
    #buffers: { positions: WebGLBuffer; looks: WebGLBuffer; chosen: WebGLBuffer } | undefined;
    #picked: { target: Target; of: SpaceFrame } | undefined;

    /** Throws an error with a message for users if the browser has no WebGL 2. */
    constructor(private readonly canvas: HTMLCanvasElement) {
        const gl = canvas.getContext('webgl2', { antialias: false, preserveDrawingBuffer: true });
        if (!gl) throw new Error(plotTexts.space.noWebgl);
        this.#gl = gl;
        this.#makeProgram();
    }

    /** Make everything again after the context was lost. */
    restore(): void {
        this.#buffers = undefined;
        this.#picked = undefined;
        this.#makeProgram();
        if (this.#points) this.setPoints(this.#points);
        this.setChosen(this.#chosen);
    }

    setPoints(points: SpacePoints): void {
        const gl = this.#gl;
        this.#points = points;
        if (this.#picked) this.#picked = { ...this.#picked, of: NO_FRAME };
        this.#buffers ??= { positions: gl.createBuffer(), looks: gl.createBuffer(), chosen: gl.createBuffer() };
        this.#fill('positions', this.#buffers.positions, points.positions, 3, gl.FLOAT);
        this.#fill('looks', this.#buffers.looks, points.looks, 4, gl.UNSIGNED_BYTE);
        this.setChosen(undefined);
    }

    /** Mark points, one byte each. */
    setChosen(chosen: Uint8Array | undefined): void {
        this.#chosen = chosen;
        if (!this.#points || !this.#buffers) return;
        const marks = chosen ?? new Uint8Array(this.#points.count);
        this.#fill('chosen', this.#buffers.chosen, marks, 1, this.#gl.UNSIGNED_BYTE);
    }

    draw(frame: SpaceFrame): void {
        const gl = this.#gl;
        const [width, height] = deviceSize(frame);
        if (this.canvas.width !== width || this.canvas.height !== height) {
            [this.canvas.width, this.canvas.height] = [width, height];
        }
        if (gl.drawingBufferWidth !== width || gl.drawingBufferHeight !== height)
            throw new Error(plotTexts.space.tooLarge(gl.getParameter(gl.MAX_RENDERBUFFER_SIZE) as number));
        gl.bindFramebuffer(gl.FRAMEBUFFER, null);
        this.#drawPoints(frame, width, height, false);
    }

    /** Wait until the graphics processor has finished its commands, without blocking the page. */
    async finish(): Promise<void> {
        const gl = this.#gl;
        const fence = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
        if (!fence) return;
        gl.flush();
        while (!gl.isContextLost() && gl.getSyncParameter(fence, gl.SYNC_STATUS) === gl.UNSIGNALED)
            await new Promise((resolve) => setTimeout(resolve, 4));
        gl.deleteSync(fence);
    }

    /** Return the point in front at a position, in CSS pixels; -1 if there is none. */
    async pick(frame: SpaceFrame, x: number, y: number): Promise<number> {
        const gl = this.#gl;
        const [width, height] = deviceSize(frame);
        if (!this.#points?.count || gl.isContextLost()) return -1;
        if (this.#picked?.of !== frame) this.#drawNumbers(frame, width, height);
        gl.bindFramebuffer(gl.FRAMEBUFFER, this.#picked!.target.frame);
        const side = 2 * REACH + 1;
        const [left, bottom] = [Math.round(x * frame.ratio) - REACH, height - Math.round(y * frame.ratio) - REACH];
        const pixels = new Uint8Array(4 * side * side);
        // through a buffer: reading at once would block the page until everything is drawn
        const buffer = gl.createBuffer();
        gl.bindBuffer(gl.PIXEL_PACK_BUFFER, buffer);
        gl.bufferData(gl.PIXEL_PACK_BUFFER, pixels.length, gl.STREAM_READ);
        gl.readPixels(left, bottom, side, side, gl.RGBA, gl.UNSIGNED_BYTE, 0);
        gl.bindBuffer(gl.PIXEL_PACK_BUFFER, null);
        await this.finish();
        gl.bindBuffer(gl.PIXEL_PACK_BUFFER, buffer);
        gl.getBufferSubData(gl.PIXEL_PACK_BUFFER, 0, pixels);
        gl.bindBuffer(gl.PIXEL_PACK_BUFFER, null);
        gl.deleteBuffer(buffer);
        return nearestNumber(pixels, side);
    }

    /** Free the memory of the graphics processor. */
    close(): void {
        this.#gl.getExtension('WEBGL_lose_context')?.loseContext();
    }

    #drawPoints(frame: SpaceFrame, width: number, height: number, numbers: boolean): void {
        const gl = this.#gl;
        const program = this.#program;
        gl.viewport(0, 0, width, height);
        gl.clearColor(0, 0, 0, 0);
        gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
        if (!program || !this.#points?.count) return;
        gl.enable(gl.DEPTH_TEST);
        gl.useProgram(program);
        const at = (name: string) => gl.getUniformLocation(program, name);
        gl.uniformMatrix4fv(at('matrix'), false, clipMatrix(frame.projection));
        gl.uniform2f(at('radii'), frame.radii[0] * frame.ratio, frame.radii[1] * frame.ratio);
        gl.uniform3f(at('ground'), ...frame.ground);
        gl.uniform3f(at('mark'), ...frame.mark);
        gl.uniform1i(at('faint'), Number(frame.faint));
        gl.uniform1i(at('numbers'), Number(numbers));
        gl.drawArrays(gl.POINTS, 0, Math.ceil(this.#points.count * frame.share));
    }

    /** Draw the number of each point instead of its colour, off the screen. */
    #drawNumbers(frame: SpaceFrame, width: number, height: number): void {
        const gl = this.#gl;
        const target = this.#picked?.target ?? makeTarget(gl);
        gl.bindFramebuffer(gl.FRAMEBUFFER, target.frame);
        for (const [position, buffer, format] of [
            [gl.COLOR_ATTACHMENT0, target.numbers, gl.RGBA8],
            [gl.DEPTH_ATTACHMENT, target.depths, gl.DEPTH_COMPONENT24],
        ] as const) {
            gl.bindRenderbuffer(gl.RENDERBUFFER, buffer);
            gl.renderbufferStorage(gl.RENDERBUFFER, format, width, height);
            gl.framebufferRenderbuffer(gl.FRAMEBUFFER, position, gl.RENDERBUFFER, buffer);
        }
        this.#drawPoints({ ...frame, share: 1 }, width, height, true);
        this.#picked = { target, of: frame };
    }

    #makeProgram(): void {
        const gl = this.#gl;
        const program = gl.createProgram();
        for (const [type, source] of [
            [gl.VERTEX_SHADER, VERTEX_SHADER],
            [gl.FRAGMENT_SHADER, FRAGMENT_SHADER],
        ] as const) {
            const shader = gl.createShader(type);
            if (!shader) return; // the context is lost
            gl.shaderSource(shader, source);
            gl.compileShader(shader);
            gl.attachShader(program, shader);
        }
        gl.linkProgram(program);
        if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost())
            throw new Error(gl.getProgramInfoLog(program) ?? '');
        this.#program = program;
    }

    #fill(
        name: string,
        buffer: WebGLBuffer,
        data: ArrayBufferView<ArrayBuffer> | Uint8Array,
        parts: number,
        type: number,
    ): void {
        const gl = this.#gl;
        if (!this.#program || gl.isContextLost()) return;
        gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
        gl.bufferData(gl.ARRAY_BUFFER, data, gl.DYNAMIC_DRAW);
        const position = gl.getAttribLocation(this.#program, name);
        gl.enableVertexAttribArray(position);
        gl.vertexAttribPointer(position, parts, type, type === gl.UNSIGNED_BYTE, 0, 0);
    }
}

const NO_FRAME = {} as SpaceFrame;

/** A picture off the screen. */
interface Target {
    readonly frame: WebGLFramebuffer;
    readonly numbers: WebGLRenderbuffer;
    readonly depths: WebGLRenderbuffer;
}

const makeTarget = (gl: WebGL2RenderingContext): Target => ({
    frame: gl.createFramebuffer(),
    numbers: gl.createRenderbuffer(),
    depths: gl.createRenderbuffer(),
});

/** Return the number nearest to the middle of a square of pixels; -1 if there is none. */
export function nearestNumber(pixels: Uint8Array, side: number): number {
    let [found, least] = [-1, Infinity];
    for (let k = 0; k < side * side; k++) {
        const number = pixels[4 * k]! + 256 * pixels[4 * k + 1]! + 65536 * pixels[4 * k + 2]! - 1;
        const away = Math.hypot((k % side) - (side - 1) / 2, Math.floor(k / side) - (side - 1) / 2);
        if (pixels[4 * k + 3] && away < least) [found, least] = [number, away];
    }
    return found;
}

function deviceSize({ projection: { size }, ratio }: SpaceFrame): [number, number] {
    return [Math.max(1, Math.round(size.width * ratio)), Math.max(1, Math.round(size.height * ratio))];
}
