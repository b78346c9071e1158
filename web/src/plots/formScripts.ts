/** Python scripts that draw corner plots and plots in space with matplotlib. */

import { isGalacticColumn } from './defaultSettings';
import { isParallax } from './formDefaults';
import { degreesOf } from './plotPoints';
import type { Axis } from './plotSettings';
import * as parts from './pythonParts';
import type { ScriptTable } from './pythonParts';
import type { RowValues, ValueAxis } from './rowValues';
import type { Camera } from './spaceCamera';

const { py, pyNumber, pyLabel } = parts;

/** Return the lines that read quantities and the rows that have all of them within the axes. */
function readValues({ fields }: ScriptTable, axes: readonly Axis[], shown: readonly ValueAxis[]): string[] {
    const read = axes.map((axis) => parts.readQuantity(fields, axis));
    const logs = axes.flatMap((axis, k) => axis.log ? [`values[${k}] = np.log10(np.where(values[${k}] > 0, values[${k}], np.nan))`] : []); // prettier-ignore
    return ['values = [', ...read.map((line) => `    ${line},`), ']', ...logs, ...withinLines(shown)];
}

const withinLines = (shown: readonly ValueAxis[]): string[] => [
    `ranges = [${shown.map(({ range }) => `(${range.map(pyNumber).join(', ')})`).join(', ')}]`,
    'good = shown.copy()',
    'for value, ends in zip(values, ranges):',
    '    good &= (value >= min(ends)) & (value <= max(ends))',
];

const labelsOf = (shown: readonly ValueAxis[]): string =>
    `labels = [${shown.map(({ label, log }) => pyLabel(log ? `log10 ${label}` : label)).join(', ')}]`;

/** Return the Python that draws a corner plot from `rows`. */
export function cornerPython({ settings, axes }: RowValues, table: ScriptTable): string {
    const chosen = settings.corner.axes;
    const drawing = [
        'import matplotlib.pyplot as plt',
        'from matplotlib.colors import LinearSegmentedColormap, LogNorm',
        '',
        parts.writeRamp(),
        labelsOf(axes),
        'count = len(values)',
        'fig, panels = plt.subplots(count, count, figsize=(2 * count, 2 * count), layout="constrained")',
        'for row in range(count):',
        '    for column in range(count):',
        '        ax = panels[row, column]',
        '        if column > row:',
        '            ax.axis("off")',
        '            continue',
        '        x, y = values[column][good], values[row][good]',
        '        if column == row:',
        `            ax.hist(x, bins=40, range=sorted(ranges[row]), color=${py(parts.ACCENT)})`,
        '            ax.set_yticks([])',
        '        elif good.sum() <= 3000:',
        `            ax.scatter(x, y, s=3, color=${py(parts.ACCENT)}, linewidths=0)`,
        '        else:',
        '            bounds = [sorted(ranges[column]), sorted(ranges[row])]',
        '            ax.hist2d(x, y, bins=60, range=bounds, cmap=ramp, norm=LogNorm(vmin=1), cmin=1)',
        '        ax.set_xlim(ranges[column])',
        '        if column < row:',
        '            ax.set_ylim(ranges[row])',
        '        ax.tick_params(labelbottom=row == count - 1, labelleft=column == 0 and row > 0)',
        '        if row == count - 1:',
        '            ax.set_xlabel(labels[column])',
        '        if column == 0 and row > 0:',
        '            ax.set_ylabel(labels[row])',
        parts.writeEnd('corner'),
    ];
    const columns = chosen.flatMap(({ column, minus }) => [column, minus]);
    return [parts.writeHead(table, columns), readValues(table, chosen, axes).join('\n'), drawing.join('\n')].join('\n\n'); // prettier-ignore
}

/** Return the Python that draws a plot in space from `rows`. */
export function spacePython(values: RowValues, table: ScriptTable, camera: Camera): string {
    const { settings, axes, shades, sizes } = values;
    const { space, colour } = settings;
    const byPosition = space.by === 'positions';
    const { longitude, latitude } = settings.axes;
    const used = byPosition ? [longitude.column, latitude.column, space.distance] : space.axes.flatMap(({ column, minus }) => [column, minus]); // prettier-ignore
    const reading = [
        ...(byPosition ? placeLines(values, table) : readValues(table, space.axes, axes)),
        ...parts.readShades(table, shades, colour),
        ...(shades?.type === 'values' ? ['good &= np.isfinite(colour)'] : []),
        ...(sizes ? sizeLines(values, table) : []),
    ];
    const isRamp = shades?.type === 'values';
    const size = sizes ? (mask: string) => `size[${mask}]` : () => '4';
    const call = (mask: string, options: string) =>
        `ax.scatter(*(value[${mask}] for value in values), ${options}, s=${size(mask)}, linewidths=0, depthshade=False)`;
    const bar = (points: string, label: string) => `fig.colorbar(${points}, label=${label}, shrink=0.7)`;
    const drawing = [
        'import matplotlib.pyplot as plt',
        ...(isRamp ? ['from matplotlib.colors import LinearSegmentedColormap'] : []),
        '',
        ...(isRamp ? [parts.writeRamp()] : []),
        labelsOf(axes),
        'fig = plt.figure(figsize=(8, 7), layout="constrained")',
        'ax = fig.add_subplot(projection="3d")',
        ...parts.writePoints(table, shades, colour, call, bar),
        'ax.set(xlim=ranges[0], ylim=ranges[1], zlim=ranges[2])',
        'ax.set(xlabel=labels[0], ylabel=labels[1], zlabel=labels[2])',
        'ax.set_box_aspect((1, 1, 1))',
        `ax.view_init(elev=${pyNumber(camera.latitude)}, azim=${pyNumber(camera.longitude)})`,
        parts.writeEnd('3d'),
    ];
    const turned = byPosition && isTurned(values, table);
    const head = parts.writeHead(table, [...used, colour, space.sizes], turned ? ['from astropy.coordinates import SkyCoord'] : []); // prettier-ignore
    return [head, reading.join('\n'), drawing.join('\n')].join('\n\n');
}

const isTurned = ({ settings }: RowValues, { fields }: ScriptTable): boolean =>
    isGalacticColumn(fields[settings.axes.longitude.column]) !== (settings.frame === 'galactic');

/** Return the lines that place positions by their distance, or on the unit sphere. */
function placeLines(values: RowValues, table: ScriptTable): string[] {
    const { settings, axes } = values;
    const { fields } = table;
    const { longitude, latitude } = settings.axes;
    const { distance } = settings.space;
    const angle = (column: number) => `np.radians(${parts.readColumn(fields, column)} * ${pyNumber(degreesOf(fields[column]?.unit ?? ''))})`; // prettier-ignore
    const far = fields[distance];
    const unit = far?.unit ?? '';
    const parallax = { arcsec: 1, uas: 1e6, deg: 1 / 3600, rad: Math.PI / 648000 }[unit] ?? 1000;
    const [from, to] = settings.frame === 'galactic' ? ['icrs', 'galactic'] : ['galactic', 'icrs'];
    const names = to === 'galactic' ? ['l', 'b'] : ['ra', 'dec'];
    return [
        `longitude, latitude = ${angle(longitude.column)}, ${angle(latitude.column)}`,
        'latitude[np.abs(latitude) > np.pi / 2 + 1e-9] = np.nan',
        ...(isTurned(values, table)
            ? [
                  'known = np.isfinite(longitude) & np.isfinite(latitude)',
                  `place = SkyCoord(longitude[known], latitude[known], unit="rad", frame="${from}").${to}`,
                  `longitude[known], latitude[known] = place.${names[0]}.rad, place.${names[1]}.rad`,
              ]
            : []),
        ...(!far
            ? ['distance = np.ones(len(rows))']
            : [
                  `distance = ${parts.readColumn(fields, distance)}`,
                  'distance[~(distance > 0)] = np.nan',
                  ...(isParallax(far) ? [`distance = ${pyNumber(parallax)} / distance  # parsec`] : []),
              ]),
        'values = [',
        '    distance * np.cos(latitude) * np.cos(longitude),',
        '    distance * np.cos(latitude) * np.sin(longitude),',
        '    distance * np.sin(latitude),',
        ']',
        ...withinLines(axes),
    ];
}

function sizeLines({ sizes, settings }: RowValues, { fields }: ScriptTable): string[] {
    const [least, most] = sizes!.range.map(pyNumber);
    return [
        `size = ${parts.readColumn(fields, settings.space.sizes)}`,
        `size = np.nan_to_num(np.clip((size - ${least}) / (${most} - ${least}), 0, 1))`,
        'size = (1.5 + 6 * size) ** 2',
    ];
}
