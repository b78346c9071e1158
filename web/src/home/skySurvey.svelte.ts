/** A background of the map: the tiles of a HiPS that its operator has allowed. */

import { RequestSlots } from '../browser/requestSlots';
import { cellOfPosition, positionInFace } from '../sky/healpixCells';
import { frameRotation } from '../sky/skyFrames';
import type { TurnedSky } from '../sky/turnedSky';
import { text } from '../text';
import { orderForMap, readProperties, tilePath, USUAL_ORDER, type SurveyProperties } from './surveyProperties';

/** Requests at a time. */
const AT_ONCE = 6;
/** Tiles of one view, and those that are kept: a megabyte each. */
const MAX_TILES = 100;
const MAX_KEPT = 160;
/** Tiles in a row of the picture of the whole sky, which has all tiles of order 3. */
const ALLSKY_ROW = 27;
const ALLSKY_TILES = 768;

/** Pixels (0xAABBGGRR) of a tile: x of the cell grows by lines, y by columns. */
interface Tile {
    readonly order: number;
    readonly pixels: Uint32Array;
    readonly width: number;
    /** where it begins, and pixels from a line to the next */
    readonly start: number;
    readonly stride: number;
}

/** Return the colour (0xAABBGGRR) at a unit vector (ICRS); 0 where it is unknown. */
export type ColourReader = (x: number, y: number, z: number) => number;

export class SkySurvey {
    about = $state.raw<SurveyProperties | undefined>();
    failed = $state('');
    /** grows when more is known */
    version = $state(0);
    // eslint-disable-next-line svelte/prefer-svelte-reactivity -- `version` tells of changes
    readonly #tiles = new Map<number, Tile>();
    #allsky: readonly Tile[] = [];
    // eslint-disable-next-line svelte/prefer-svelte-reactivity -- nothing is drawn from it
    readonly #missing = new Set<number>();
    readonly #slots = new RequestSlots(AT_ONCE);
    #loading: Promise<void> | undefined;
    #loadingAllsky: Promise<void> | undefined;

    constructor(readonly address: string) {}

    /** Its title, or the end of its address until it is known. */
    get title(): string {
        return this.about?.title || this.address.split('/').at(-2)!;
    }

    /** Load the properties, once. Never raises; `failed` holds the reason. */
    load(): Promise<void> {
        return (this.#loading ??= this.#loadAbout());
    }

    async #loadAbout(): Promise<void> {
        this.failed = '';
        try {
            const answer = await fetch(this.address + 'properties');
            if (!answer.ok) throw new Error(text.home.survey.problems.status(answer.status));
            this.about = readProperties(await answer.text());
        } catch (error) {
            const why = error instanceof TypeError ? text.home.survey.problems.noAnswer : (error as Error).message;
            this.failed = text.home.survey.failed(new URL(this.address).host, why);
            this.#loading = undefined;
        }
    }

    /** Load the picture of the whole sky, which only a map that shows the survey needs. */
    async #loadAllsky({ extension, orders }: SurveyProperties): Promise<void> {
        if (orders[1] < USUAL_ORDER) return;
        const picture = await readPicture(`${this.address}Norder${USUAL_ORDER}/Allsky.${extension}`).catch(
            () => undefined,
        );
        if (!picture) return;
        const { pixels, width: stride } = picture;
        const width = Math.floor(stride / ALLSKY_ROW);
        this.#allsky = Array.from({ length: ALLSKY_TILES }, (_, index) => {
            const start = Math.floor(index / ALLSKY_ROW) * width * stride + (index % ALLSKY_ROW) * width;
            return { order: USUAL_ORDER, pixels, width, start, stride };
        });
        this.version++;
    }

    /** Return the order of the tiles that a scale needs; -1 where the picture of the whole sky is enough. */
    #orderAt(degrees: number): number {
        const { orders, width } = this.about!;
        const wanted = orderForMap(degrees, width);
        if (wanted < USUAL_ORDER && this.#allsky.length) return -1;
        return Math.max(orders[0], Math.min(orders[1], wanted));
    }

    /** Load the tiles of a view. Never raises: coarser tiles are kept where finer ones cannot be loaded. */
    async loadView(sky: TurnedSky, signal: AbortSignal): Promise<void> {
        await this.load();
        if (!this.about || signal.aborted) return;
        await (this.#loadingAllsky ??= this.#loadAllsky(this.about));
        if (signal.aborted) return;
        const order = this.#orderAt(sky.view.degrees);
        if (order < 0) return;
        const lacking = this.#tilesInView(sky, order).filter(
            (index) => !this.#tiles.has(keyOf(order, index)) && !this.#missing.has(keyOf(order, index)),
        );
        const load = async (index: number): Promise<void> => {
            if (!signal.aborted) await this.#loadTile(order, index, signal);
        };
        await Promise.all(lacking.slice(0, MAX_TILES).map((index) => this.#slots.runInSlot(() => load(index))));
        for (const key of [...this.#tiles.keys()].slice(0, Math.max(0, this.#tiles.size - MAX_KEPT)))
            this.#tiles.delete(key);
    }

    /** Return the tiles of a view, the tiles of its middle first. */
    #tilesInView(sky: TurnedSky, order: number): number[] {
        const { width, height } = sky.view;
        const find = this.#positionFinder();
        // eslint-disable-next-line svelte/prefer-svelte-reactivity -- it lives as long as this call
        const nearest = new Map<number, number>();
        for (let y = 8; y < height; y += 16)
            for (let x = 8; x < width; x += 16) {
                if (!sky.vectorAt(x, y, VECTOR)) continue;
                const index = cellOfPosition(order, find(VECTOR[0]!, VECTOR[1]!, VECTOR[2]!));
                const away = Math.hypot(x - width / 2, y - height / 2);
                if (away < (nearest.get(index) ?? Infinity)) nearest.set(index, away);
            }
        return [...nearest].sort(([, one], [, other]) => one - other).map(([index]) => index);
    }

    async #loadTile(order: number, index: number, signal: AbortSignal): Promise<void> {
        try {
            const address = this.address + tilePath(order, index, this.about!.extension);
            const picture = await readPicture(address, signal);
            if (!picture) return void this.#missing.add(keyOf(order, index));
            const { pixels, width } = picture;
            this.#tiles.set(keyOf(order, index), { order, pixels, width, start: 0, stride: width });
            this.version++;
        } catch {
            // no answer, or the view has changed: the next view asks again
        }
    }

    /** Return what reads the colours of a map; undefined before the survey is known. */
    readerAt(degrees: number): ColourReader | undefined {
        if (!this.about) return undefined;
        const wanted = this.#orderAt(degrees);
        const finest = wanted < 0 ? USUAL_ORDER : wanted;
        const find = this.#positionFinder();
        let [last, tile] = [-1, undefined as Tile | undefined];
        return (x, y, z) => {
            const position = find(x, y, z);
            const index = cellOfPosition(finest, position);
            // neighbours on the map are of the same tile
            if (index !== last) [last, tile] = [index, this.#bestTile(finest, index)];
            return tile ? colourIn(tile, position) : 0;
        };
    }

    /** Return the finest tile that is here for a cell. */
    #bestTile(order: number, index: number): Tile | undefined {
        for (let [coarser, cell] = [order, index]; coarser >= 0; coarser--, cell = Math.floor(cell / 4)) {
            const tile =
                this.#tiles.get(keyOf(coarser, cell)) ?? (coarser === USUAL_ORDER ? this.#allsky[cell] : undefined);
            if (tile) return tile;
        }
        return undefined;
    }

    /** Return what finds the position of a unit vector (ICRS) in a face of the survey's frame. */
    #positionFinder(): (x: number, y: number, z: number) => Float64Array {
        const position = new Float64Array(3);
        if (this.about!.frame === 'equatorial') return (x, y, z) => (positionInFace(x, y, z, position), position);
        const turn = frameRotation('equatorial', 'galactic', 0);
        const along = (row: number, x: number, y: number, z: number): number =>
            turn[row]! * x + turn[row + 1]! * y + turn[row + 2]! * z;
        return (x, y, z) => (
            positionInFace(along(0, x, y, z), along(3, x, y, z), along(6, x, y, z), position),
            position
        );
    }
}

const VECTOR = new Float64Array(3);

/** Orders are below 16, and indices below 2 ** 34. */
const keyOf = (order: number, index: number): number => index * 16 + order;

/** Return the colour at a position in a face; 0 where the picture is transparent. */
function colourIn({ order, pixels, width, start, stride }: Tile, position: Float64Array): number {
    const side = 2 ** order;
    const [x, y] = [position[1]! * side, position[2]! * side];
    const line = Math.min(width - 1, Math.floor((x - Math.floor(x)) * width));
    const column = Math.min(width - 1, Math.floor((y - Math.floor(y)) * width));
    const colour = pixels[start + line * stride + column]!;
    return colour >>> 24 ? colour : 0;
}

/** Load a picture; undefined if there is none (404). Raises an Error without an answer. */
async function readPicture(
    address: string,
    signal?: AbortSignal,
): Promise<{ pixels: Uint32Array; width: number } | undefined> {
    const answer = await fetch(address, signal ? { signal } : {});
    if (!answer.ok) return undefined;
    const bitmap = await createImageBitmap(await answer.blob());
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [bitmap.width, bitmap.height];
    const context = canvas.getContext('2d', { willReadFrequently: true })!;
    context.drawImage(bitmap, 0, 0);
    bitmap.close();
    const { data, width } = context.getImageData(0, 0, canvas.width, canvas.height);
    return { pixels: new Uint32Array(data.buffer), width };
}
