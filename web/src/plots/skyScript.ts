/** Python scripts that draw a map of the sky with matplotlib. */

import { normalizeAngle } from '../sky/directions';
import { unprojectPlace } from '../sky/hammerAitoff';
import { isGalacticColumn } from './defaultSettings';
import { WHOLE_SKY } from './plotLayout';
import { degreesOf } from './plotPoints';
import type { Scene } from './plotScene';
import { colourColumn } from './plotData';
import * as parts from './pythonParts';
import type { ScriptTable } from './pythonParts';

const { pyNumber } = parts;

/** The cell of each position; cells are numbered by face and place within it, which is enough to count them. */
const CELLS = `def healpix_cells(order, longitude, latitude):
    """Return a number for the HEALPix cell of each position, in radians (Gorski et al. 2005)."""
    nside = 2**order
    z = np.sin(latitude)
    turn = longitude / (np.pi / 2) % 4
    rising = np.floor(nside * (0.5 + turn - 0.75 * z)).astype(int)
    falling = np.floor(nside * (0.5 + turn + 0.75 * z)).astype(int)
    up, down = rising // nside, falling // nside
    face = np.where(up == down, up % 4 + 4, np.where(up < down, up % 4, down % 4 + 8))
    x, y = falling % nside, nside - rising % nside - 1
    quarter = np.minimum(turn.astype(int), 3)
    across = nside * np.sqrt(3 * (1 - np.abs(z)))
    east = np.minimum((turn - quarter) * across, nside - 1).astype(int)
    west = np.minimum((1 - turn + quarter) * across, nside - 1).astype(int)
    polar, north = np.abs(z) > 2 / 3, z > 0
    face = np.where(polar, np.where(north, quarter, quarter + 8), face)
    x = np.where(polar, np.where(north, nside - west - 1, east), x)
    y = np.where(polar, np.where(north, nside - east - 1, west), y)
    return (face * nside + y) * nside + x`;

/** Return the Python that draws a map; with the order of its cells if it shows densities. */
export function skyPython(scene: Scene, table: ScriptTable, marks: string, order: number | undefined): string {
    const { data, size } = scene;
    const { settings, shades } = data;
    const { longitude, latitude } = settings.axes;
    const own = isGalacticColumn(table.fields[longitude.column]) ? 'galactic' : 'icrs';
    const frame = settings.frame === 'galactic' ? 'galactic' : 'icrs';
    const turned = own !== frame;
    const colour = colourColumn(settings);
    const unit = (column: number) => degreesOf(table.fields[column]?.unit ?? '');
    const scaled = (column: number) => `${parts.readColumn(table.fields, column)}${unit(column) === 1 ? '' : ` * ${pyNumber(unit(column))}`}`; // prettier-ignore
    const head = parts.writeHead(
        table,
        [longitude.column, latitude.column, colour],
        turned || order !== undefined ? ['from astropy.coordinates import SkyCoord'] : [],
    );
    const names = { icrs: ['ra', 'dec'], galactic: ['l', 'b'] } as const;
    const convert = (from: string, to: 'icrs' | 'galactic', places: string) =>
        `SkyCoord(${places}, unit="deg", frame=${parts.py(from)}).${to}`;
    const reading = [
        `longitude = ${scaled(longitude.column)}`,
        `latitude = ${scaled(latitude.column)}`,
        ...parts.readShades(table, shades, colour),
        `good = shown & np.isfinite(longitude) & (np.abs(latitude) <= 90)${shades?.type === 'values' ? ' & np.isfinite(colour)' : ''}`,
        ...(turned && order === undefined
            ? [
                  `place = ${convert(own, frame, 'np.where(good, longitude, 0), np.where(good, latitude, 0)')}`,
                  `longitude, latitude = place.${names[frame][0]}.deg, place.${names[frame][1]}.deg`,
              ]
            : []),
    ];
    const whole = regionOf(scene) === undefined;
    const colours = order !== undefined || shades?.type === 'values';
    const drawing = [
        'import matplotlib.pyplot as plt',
        ...(colours ? [`from matplotlib.colors import LinearSegmentedColormap${order === undefined ? '' : ', LogNorm'}`] : []), // prettier-ignore
        '',
        ...(colours ? [parts.writeRamp()] : []),
        `fig = plt.figure(${parts.writeFigure(size)}, layout="constrained")`,
        `ax = fig.add_subplot(${whole ? 'projection="hammer"' : ''})`,
        ...axesLines(scene),
        ...(order === undefined
            ? drawPoints(scene, table, marks, whole)
            : drawCells(scene, order, whole, convert, own, frame, names)),
        parts.writeEnd('sky'),
    ];
    const cells = order === undefined ? [] : [CELLS];
    return [head, ...cells, reading.join('\n'), drawing.join('\n')].join('\n\n\n');
}

interface Region {
    readonly west: number;
    readonly east: number;
    readonly south: number;
    readonly north: number;
}

/** Return the ends of a view in degrees, relative to the middle; undefined if it shows a large part of the sky. */
function regionOf({ view }: Scene): Region | undefined {
    if (Math.abs(view.u1 - view.u0) > 0.5 * (WHOLE_SKY.u1 - WHOLE_SKY.u0)) return undefined;
    let [west, east, south, north] = [180, -180, 90, -90];
    for (let i = 0; i <= 20; i++) {
        for (let j = 0; j <= 20; j++) {
            const u = view.u0 + ((view.u1 - view.u0) * i) / 20;
            const at = unprojectPlace(u, view.v0 + ((view.v1 - view.v0) * j) / 20);
            if (!at) return undefined;
            const away = normalizeAngle(at[0] + 180) - 180;
            [west, east] = [Math.min(west, away), Math.max(east, away)];
            [south, north] = [Math.min(south, at[1]), Math.max(north, at[1])];
        }
    }
    return { west, east, south, north };
}

/** Lines above the map. */
const GRID = ['ax.grid(linewidth=0.5)', 'ax.set_axisbelow(False)'];

/** Return the lines for the frame: longitude grows to the left, the middle as in the portal. */
function axesLines(scene: Scene): string[] {
    const { data } = scene;
    const region = regionOf(scene);
    const names = data.settings.frame === 'galactic' ? ['l', 'b'] : ['RA', 'Dec'];
    const centre = `centre = ${pyNumber(data.centre)}  # degrees, the longitude in the middle`;
    if (!region) {
        return [
            centre,
            'ax.set_xticks(np.radians(np.arange(-150, 180, 30)))',
            'ax.set_xticklabels([f"{(centre - away) % 360:.0f}°" for away in range(-150, 180, 30)])',
            ...GRID,
        ];
    }
    const { west, east, south, north } = region;
    const middle = Math.cos((((south + north) / 2) * Math.PI) / 180);
    return [
        centre,
        `ax.set_xlim(${pyNumber(east)}, ${pyNumber(west)})`,
        `ax.set_ylim(${pyNumber(south)}, ${pyNumber(north)})`,
        `ax.set_aspect(${pyNumber(1 / Math.max(0.02, middle))})`,
        'ax.xaxis.set_major_formatter(lambda away, _: f"{(centre + away) % 360:g}°")',
        `ax.set_xlabel("${names[0]}")`,
        `ax.set_ylabel("${names[1]} [deg]")`,
        ...GRID,
    ];
}

function drawPoints({ data }: Scene, table: ScriptTable, marks: string, whole: boolean): string[] {
    const place = (mask: string) =>
        whole ? `-np.radians(away[${mask}]), np.radians(latitude[${mask}])` : `away[${mask}], latitude[${mask}]`;
    return [
        'away = (longitude - centre + 180) % 360 - 180',
        ...parts.writePoints(
            table,
            data.shades,
            colourColumn(data.settings),
            (mask, options) => `ax.scatter(${place(mask)}, ${options}, ${marks})`,
            (points, label) => `fig.colorbar(${points}, label=${label}, shrink=0.8)`,
        ),
    ];
}

type Convert = (from: string, to: 'icrs' | 'galactic', places: string) => string;

/** Return the lines that colour every pixel of the map by the count of its cell. */
function drawCells(
    scene: Scene,
    order: number,
    whole: boolean,
    convert: Convert,
    own: 'icrs' | 'galactic',
    frame: 'icrs' | 'galactic',
    names: Readonly<Record<'icrs' | 'galactic', readonly [string, string]>>,
): string[] {
    const region = regionOf(scene) ?? { west: -180, east: 180, south: -90, north: 90 };
    const steps = (from: number, to: number, count: number) => `np.linspace(${pyNumber(from)}, ${pyNumber(to)}, ${count})`; // prettier-ignore
    const toCells = (frameOf: 'icrs' | 'galactic', longitude: string, latitude: string) =>
        frameOf === 'icrs'
            ? [`cells = healpix_cells(${order}, np.radians(${longitude}), np.radians(${latitude}))`]
            : [
                  `place = ${convert(frameOf, 'icrs', `${longitude}, ${latitude}`)}`,
                  `cells = healpix_cells(${order}, place.${names.icrs[0]}.rad, place.${names.icrs[1]}.rad)`,
              ];
    const density = (12 * 4 ** order) / 41252.96;
    return [
        ...toCells(own, 'longitude[good]', 'latitude[good]'),
        `counts = np.bincount(cells, minlength=${12 * 4 ** order})`,
        `across, up = np.meshgrid(${steps(region.west, region.east, 1001)}, ${steps(region.south, region.north, 501)})`,
        'mid_across, mid_up = (across[1:, 1:] + across[:-1, :-1]) / 2, (up[1:, 1:] + up[:-1, :-1]) / 2',
        ...toCells(frame, '(mid_across + centre) % 360', 'mid_up'),
        `density = np.ma.masked_equal(counts[cells], 0) * ${pyNumber(density)}`,
        `image = ax.pcolormesh(${whole ? '-np.radians(across), np.radians(up)' : 'across, up'}, density, cmap=ramp, norm=LogNorm(), rasterized=True)`,
        'fig.colorbar(image, label="rows / deg²", shrink=0.8)',
    ];
}
