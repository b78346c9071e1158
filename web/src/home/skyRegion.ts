/** Regions of the sky that users draw or paste: ADQL, a test for directions, an outline. Degrees, ICRS. */

import { geoCircle } from 'd3-geo';
import { DEGREE, toVector, type Direction, type Vector } from '../sky/directions';
import { cellOfVector, MAX_ORDER } from '../sky/healpixCells';

export type SkyRegion =
    | { readonly kind: 'circle'; readonly centre: Direction; readonly radius: number }
    /** corners in order; sides are arcs of great circles */
    | { readonly kind: 'polygon'; readonly corners: readonly Direction[] }
    | { readonly kind: 'moc'; readonly text: string; readonly cells: ReadonlyMap<number, ReadonlySet<number>> };

const written = (angle: number): string => String(Number(angle.toFixed(6)));

/** Return the condition that a table's rows lie in the region. */
export function regionCondition(region: SkyRegion, { ra, dec }: { readonly ra: string; readonly dec: string }): string {
    const point = `POINT(${ra}, ${dec})`;
    switch (region.kind) {
        case 'circle': {
            const [lon, lat] = region.centre;
            return `DISTANCE(${point}, POINT(${written(lon)}, ${written(lat)})) <= ${written(region.radius)}`;
        }
        case 'polygon':
            return `1 = CONTAINS(${point}, POLYGON(${region.corners.map((corner) => corner.map(written).join(', ')).join(', ')}))`;
        case 'moc':
            return `1 = CONTAINS(${point}, REGION('${region.text}'))`;
    }
}

/** Return a test for unit vectors. */
export function makeRegionTest(region: SkyRegion): (x: number, y: number, z: number) => boolean {
    switch (region.kind) {
        case 'circle': {
            const [a, b, c] = toVector(...region.centre);
            const least = Math.cos(region.radius * DEGREE);
            return (x, y, z) => a * x + b * y + c * z >= least;
        }
        case 'polygon':
            return makePolygonTest(region.corners.map((corner) => toVector(...corner)));
        case 'moc': {
            const orders = [...region.cells];
            return (x, y, z) => orders.some(([order, cells]) => cells.has(cellOfVector(order, x, y, z)));
        }
    }
}

/** Count the sides that the arc from the direction to a point inside crosses: an even number means inside. */
function makePolygonTest(corners: readonly Vector[]): (x: number, y: number, z: number) => boolean {
    const middle = corners.reduce<Vector>((sum, corner) => [sum[0] + corner[0], sum[1] + corner[1], sum[2] + corner[2]], [0, 0, 0]); // prettier-ignore
    const [a, b, c] = middle;
    const length = Math.hypot(a, b, c) || 1;
    // the plane that touches the sphere at the middle turns arcs into straight lines
    const axis: Vector = [a / length, b / length, c / length];
    const [east, north] = tangentAxes(axis);
    const flat = (vector: Vector): readonly [number, number] | undefined => {
        const along = dot(vector, axis);
        return along > 1e-9 ? [dot(vector, east) / along, dot(vector, north) / along] : undefined;
    };
    const positions = corners.map(flat);
    return (x, y, z) => {
        const position = flat([x, y, z]);
        if (!position) return false;
        let inside = false;
        positions.forEach((one, k) => {
            const other = positions[(k + 1) % positions.length];
            if (!one || !other || one[1] > position[1] === other[1] > position[1]) return;
            const crossing = one[0] + ((position[1] - one[1]) / (other[1] - one[1])) * (other[0] - one[0]);
            if (position[0] < crossing) inside = !inside;
        });
        return inside;
    };
}

const dot = (one: Vector, other: Vector): number => one[0] * other[0] + one[1] * other[1] + one[2] * other[2];

function tangentAxes([a, b, c]: Vector): readonly [Vector, Vector] {
    const across = Math.hypot(a, b);
    const east: Vector = across > 1e-12 ? [-b / across, a / across, 0] : [0, 1, 0];
    const north: Vector = [b * -0 - c * east[1], c * east[0] - a * 0, a * east[1] - b * east[0]];
    return [east, north];
}

/** Return the outline as a closed line of great circles; a MOC has none. */
export function outlineOf(region: SkyRegion): Direction[] {
    if (region.kind === 'moc') return [];
    if (region.kind === 'polygon') return [...region.corners, region.corners[0]!];
    const circle = geoCircle()
        .center([...region.centre])
        .radius(region.radius)
        .precision(4);
    return circle().coordinates[0] as [number, number][];
}

/** More cells than anybody draws, and shorter than the longest query. */
const MAX_CELLS = 20_000;

/**
 * Read a MOC as text ("6/1-3 7/20", also with commas) or JSON ({"6": [1, 2]}), IVOA MOC 2.0. Raises an Error with the problem.
 * `texts`: its messages.
 */
export function readMoc(typed: string, texts: MocTexts): SkyRegion {
    const cells = typed.trim().startsWith('{') ? readJson(typed, texts) : readAscii(typed, texts);
    const sorted = [...cells].filter(([, set]) => set.size).sort(([one], [other]) => one - other);
    if (sorted.length === 0) throw new Error(texts.empty);
    const text = sorted.map(([order, set]) => `${order}/${writeRanges([...set].sort((a, b) => a - b))}`).join(' ');
    return { kind: 'moc', text, cells: new Map(sorted) };
}

export interface MocTexts {
    readonly empty: string;
    readonly unreadable: (word: string) => string;
    readonly order: (order: number, most: number) => string;
    readonly cell: (order: number, cell: number) => string;
    readonly many: (most: number) => string;
}

type Cells = Map<number, Set<number>>;

function addCells(cells: Cells, order: number, from: number, to: number, texts: MocTexts): void {
    if (order > MAX_ORDER) throw new Error(texts.order(order, MAX_ORDER));
    if (!(to < 12 * 4 ** order) || to < from) throw new Error(texts.cell(order, to));
    const set = cells.get(order) ?? new Set<number>();
    if (set.size + to - from > MAX_CELLS) throw new Error(texts.many(MAX_CELLS));
    for (let cell = from; cell <= to; cell++) set.add(cell);
    cells.set(order, set);
}

function readAscii(typed: string, texts: MocTexts): Cells {
    const cells: Cells = new Map();
    let order = -1;
    for (const word of typed
        .replace(/\//g, '/ ')
        .split(/[\s,]+/)
        .filter(Boolean)) {
        // prettier-ignore
        const [, head] = /^(\d{1,2})\/$/.exec(word) ?? [];
        const [, from, to] = /^(\d{1,10})(?:-(\d{1,10}))?$/.exec(word) ?? [];
        if (head !== undefined) order = Number(head);
        else if (from !== undefined && order >= 0) addCells(cells, order, Number(from), Number(to ?? from), texts);
        else throw new Error(texts.unreadable(word.slice(0, 40)));
    }
    return cells;
}

function readJson(typed: string, texts: MocTexts): Cells {
    const cells: Cells = new Map();
    let given: unknown;
    try {
        given = JSON.parse(typed);
    } catch {
        throw new Error(texts.unreadable(typed.slice(0, 40)));
    }
    for (const [order, list] of Object.entries(given as Record<string, unknown>)) {
        if (!/^\d{1,2}$/.test(order) || !Array.isArray(list)) throw new Error(texts.unreadable(order));
        for (const cell of list as unknown[]) {
            if (!Number.isInteger(cell) || Number(cell) < 0) throw new Error(texts.unreadable(String(cell)));
            addCells(cells, Number(order), Number(cell), Number(cell), texts);
        }
    }
    return cells;
}

function writeRanges(cells: readonly number[]): string {
    const ranges: [number, number][] = [];
    for (const cell of cells) {
        const last = ranges.at(-1);
        if (last?.[1] === cell - 1) last[1] = cell;
        else ranges.push([cell, cell]);
    }
    return ranges.map(([from, to]) => (from === to ? String(from) : `${from}-${to}`)).join(',');
}
