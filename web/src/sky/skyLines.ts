/** Lines on the sphere, drawn on a map of the sky: cut at its far meridian and at its edges, as curved as the map makes them. */

import { geoPath, type GeoPermissibleObjects, type GeoProjection } from 'd3-geo';
import { geoHammer } from 'd3-geo-projection';
import type { Pen } from '../canvas/pen';
import type { Box, View } from '../canvas/plotView';
import type { Direction } from './directions';

/**
 * Return the Hammer-Aitoff projection to the screen, with longitudes growing to the left.
 *
 * @param centre - the direction in the middle of the ellipse, degrees
 * @param scale - CSS pixels of half the height of the ellipse
 * @param middle - of the ellipse, CSS pixels
 * @param box - the part of the screen that shows lines
 */
export function screenProjection(
    centre: Direction,
    scale: number,
    middle: readonly [x: number, y: number],
    { left, top, width, height }: Box,
): GeoProjection {
    return geoHammer()
        .rotate([-centre[0], -centre[1]])
        .reflectX(true)
        .scale(scale / Math.SQRT2)
        .translate([...middle])
        .clipExtent([
            [left, top],
            [left + width, top + height],
        ]);
}

/** Return the projection of a view of the plane, whose axes have the same scale; `centre` is the longitude in the middle. */
export function viewProjection(view: View, box: Box, centre: number): GeoProjection {
    const scale = box.width / (view.u1 - view.u0);
    const middle = [box.left - view.u0 * scale, box.top + box.height + view.v0 * scale] as const;
    return screenProjection([centre, 0], scale, middle, box);
}

/** The part of the sky that lines cross, degrees. */
export interface SkyExtent {
    readonly west: number;
    readonly east: number;
    readonly south: number;
    readonly north: number;
}

/** Return meridians and parallels within an extent. */
export function graticuleLines(
    longitudes: readonly number[],
    latitudes: readonly number[],
    { west, east, south, north }: SkyExtent,
): GeoPermissibleObjects {
    // great circles are curved by the projection, parallels are not great circles
    const parts = Math.max(32, Math.ceil((east - west) / 2.5));
    const along = Array.from({ length: parts + 1 }, (_, k) => west + ((east - west) * k) / parts);
    const meridians = longitudes.map((longitude) => [[longitude, south], [longitude, north]]); // prettier-ignore
    const parallels = latitudes.map((latitude) => along.map((longitude) => [longitude, latitude]));
    return { type: 'MultiLineString', coordinates: [...meridians, ...parallels] };
}

/** Draw the lines of a geometry. */
export function strokeGeometry(
    pen: Pen,
    projection: GeoProjection,
    geometry: GeoPermissibleObjects,
    colour: string,
    width: number,
): void {
    let line: number[] = [];
    const end = () => {
        if (line.length > 2) pen.line(line, colour, width);
        line = [];
    };
    const context = {
        beginPath: () => {},
        moveTo: (x: number, y: number) => {
            end();
            line = [x, y];
        },
        lineTo: (x: number, y: number) => void line.push(x, y),
        closePath: () => void line.push(line[0]!, line[1]!),
        arc: () => {},
    };
    geoPath(projection, context)(geometry);
    end();
}
