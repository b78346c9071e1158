/** Which columns of a table mean what, by their UCDs and names. */

import type { CandidateColumn, Position } from '../uploads/positionGuess';
import { masPerYear } from './matchQuery';

/** so many magnitudes are taken at first */
const MAX_MAGNITUDES = 4;

const ucdWords = (column: CandidateColumn): string[] => (column.ucd ?? '').toLowerCase().split(';');

/** The column that names the rows: by its UCD, else by its name. */
export function findIdColumn(columns: readonly CandidateColumn[]): CandidateColumn | undefined {
    const main = columns.find((column) => ucdWords(column)[0] === 'meta.id' && ucdWords(column).includes('meta.main'));
    return main ?? columns.find(({ name, kind }) => /^(source_?)?(id|name)$/i.test(name) && kind !== 'array');
}

/** Ids, the position, magnitudes, in the order of the table. */
export function firstColumns(columns: readonly CandidateColumn[], position: Position | undefined): string[] {
    const magnitudes = columns.filter((column) => ucdWords(column)[0] === 'phot.mag').slice(0, MAX_MAGNITUDES);
    const wanted = [
        findIdColumn(columns)?.name,
        position?.longitude.column,
        position?.latitude.column,
        ...magnitudes.map(({ name }) => name),
    ];
    return columns.map(({ name }) => name).filter((name) => wanted.includes(name));
}

/** The column with the proper motion along an axis, in a unit that is known. */
export function findMotionColumn(columns: readonly CandidateColumn[], axis: 'ra' | 'dec'): CandidateColumn | undefined {
    const usable = columns.filter(({ kind, unit }) => kind === 'number' && masPerYear(unit ?? '') !== undefined);
    const pattern = axis === 'ra' ? /^pm_?ra/i : /^pm_?de/i;
    return (
        usable.find((column) => ucdWords(column)[0] === 'pos.pm' && ucdWords(column).includes(`pos.eq.${axis}`)) ??
        usable.find(({ name }) => pattern.test(name))
    );
}
