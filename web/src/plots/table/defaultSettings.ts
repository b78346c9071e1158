/** The first plot of a table, chosen by UCDs, units and names. */

import type { Field } from '../../model/resultModel';
import { cornerSettings, spaceSettings } from './formDefaults';
import { NO_LAYERS } from '../layers/layerTable';
import { findErrorColumn } from '../points/errorColumns';
import { findByName, findLightCurve, findPlane, findPosition, type Curve } from '../points/firstColumns';
import { isGalactic, NO_AXIS, isPlottable, type Axis, type PlotKind, type PlotSettings } from '../points/plotSettings';

/** Return the first settings of a table's plot. */
export function defaultSettings(fields: readonly Field[]): PlotSettings {
    const sky = findPosition(fields);
    const [x, y] = findPlane(fields);
    const curve = findLightCurve(fields);
    const axis = (column: number, minus = -1): Axis => ({ ...NO_AXIS, column, minus });
    return {
        kind: firstKind(fields, sky, curve, y.column),
        axes: {
            x: axis(x.column, x.minus),
            y: axis(y.column),
            value: axis(y.column >= 0 ? y.column : x.column),
            longitude: axis(sky[0]),
            latitude: axis(sky[1]),
            time: axis(curve.time),
            flux: axis(curve.flux),
        },
        colour: -1,
        band: curve.band,
        error: findCurveError(fields, curve),
        frame: isGalactic(fields[sky[0]]) ? 'galactic' : 'equatorial',
        centre: undefined,
        skyStyle: 'points',
        coarseness: 1,
        bins: 0,
        logCounts: false,
        size: 1,
        period: 0,
        phaseZero: undefined,
        calendar: fields[curve.time]?.kind === 'time',
        layers: NO_LAYERS,
        corner: cornerSettings(fields, x, y.column),
        space: spaceSettings(fields, x, y.column, sky[0] >= 0),
    };
}

/** Find the errors of a light curve: the errors of its values, otherwise a column with such a name. */
function findCurveError(fields: readonly Field[], { time, flux }: Curve): number {
    const own = findErrorColumn(fields, flux);
    return own >= 0 || time < 0 ? own : findByName(fields, /^(e|err|error|sigma|uncertainty)$/i);
}

function firstKind(fields: readonly Field[], sky: readonly [number, number], curve: Curve, y: number): PlotKind {
    if (sky[0] >= 0) return 'sky';
    if (curve.time >= 0 && curve.flux >= 0 && curve.time !== curve.flux) return 'curve';
    return y >= 0 || fields.filter(isPlottable).length !== 1 ? 'scatter' : 'histogram';
}
