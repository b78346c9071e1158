/** The settings of scripts that draw plots in space. */

import { isGalacticColumn } from '../points/plotSettings';
import { degreesOf } from '../points/plotPoints';
import { columnOf, commonSettings, quantityOf, type ScriptTable } from '../script/scriptSettings';
import { writeScript } from '../script/writeScript';
import type { Camera } from '../table/camera';
import { isParallax } from '../table/formDefaults';
import { parsecScale, rangesOf, type RowValues } from '../table/rowValues';

/** Return the Python that draws a plot in space from `rows`. */
export function spacePython(values: RowValues, table: ScriptTable, camera: Camera): string {
    const { settings, shades, sizes } = values;
    const { fields } = table;
    const { space, colour, axes, frame } = settings;
    const isPositions = space.by === 'positions';
    const far = isPositions ? fields[space.distance] : undefined;
    return writeScript({
        ...commonSettings('space', table, shades, colour),
        directions: isPositions
            ? [axes.longitude, axes.latitude].map(({ column }) => ({
                  column: columnOf(fields, column),
                  degrees: degreesOf(fields[column]?.unit ?? ''),
              }))
            : null,
        quantities: isPositions ? [] : space.axes.map((axis) => quantityOf(fields, axis)),
        ...rangesOf(values),
        space: {
            columnFrame: isGalacticColumn(fields[axes.longitude.column]) ? 'galactic' : 'icrs',
            frame: frame === 'galactic' ? 'galactic' : 'icrs',
            distance: far ? columnOf(fields, space.distance) : null,
            parsec: isParallax(far) ? parsecScale(far) : null,
            sizes: sizes ? { column: columnOf(fields, space.sizes), range: sizes.range } : null,
            latitude: camera.latitude,
            longitude: camera.longitude,
        },
    });
}
