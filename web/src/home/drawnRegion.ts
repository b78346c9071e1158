/** Regions from what the pointer draws on the map. */

import type { Direction } from '../sky/directions';
import type { TurnedSky } from '../sky/turnedSky';
import { separation } from '../object/tangentPlane';
import type { SkyRegion } from './skyRegion';

export type DrawTool = 'move' | 'circle' | 'box' | 'polygon';

/** Maximum number of corners of a drawn polygon: more make the query longer, but not the line finer. */
const MAX_CORNERS = 40;

/**
 * Return the region of a drag: a circle from its middle outwards, a box between two corners, or a polygon around the line.
 * Undefined if it leaves the sky or is too small. `line`: positions in CSS pixels.
 */
export function drawnRegion(
    tool: DrawTool,
    line: readonly (readonly [number, number])[],
    sky: TurnedSky,
): SkyRegion | undefined {
    const [first, last] = [line[0]!, line.at(-1)!];
    if (tool === 'circle') {
        const [centre, edge] = [sky.directionAt(...first), sky.directionAt(...last)];
        if (!centre || !edge) return undefined;
        const radius = separation(centre, edge);
        return radius > 0 ? { kind: 'circle', centre, radius } : undefined;
    }
    const positions =
        tool === 'box' ? [first, [last[0], first[1]] as const, last, [first[0], last[1]] as const] : thin(line);
    const corners = positions.map(([x, y]) => sky.directionAt(x, y));
    if (corners.length < 3 || corners.includes(undefined)) return undefined;
    return { kind: 'polygon', corners: corners as Direction[] };
}

/** Keep corners at equal steps of the line. */
function thin(line: readonly (readonly [number, number])[]): (readonly [number, number])[] {
    const every = Math.max(1, Math.ceil(line.length / MAX_CORNERS));
    return line.filter((_, k) => k % every === 0);
}
