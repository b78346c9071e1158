import { count, counted } from './index';

export const plots = {
    perDegree: 'rows per square degree',
    map: {
        frame: 'Frame',
        frames: { equatorial: 'Equatorial', galactic: 'Galactic' },
        empty: 'No row has a position.',
        said: (label: string, cells: number, rows: number) =>
            `${label}: a map of the whole sky with ${counted(rows, 'row')} in ${counted(cells, 'cell')}.`,
        under: (longitude: number, latitude: number, rows: number) =>
            `${longitude.toFixed(1)}° ${latitude > 0 ? '+' : ''}${latitude.toFixed(1)}° · ${count(rows)} in this cell`,
    },
} as const;
