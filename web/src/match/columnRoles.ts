/** Roles of a table's columns, by UCD and name. */

import type { CandidateColumn, Position } from '../uploads/positionGuess';
import { masPerYear } from './matchQuery';

/** Magnitudes chosen at first. */
const MAX_MAGNITUDES = 4;

const ucdWords = (column: CandidateColumn): string[] => (column.ucd ?? '').toLowerCase().split(';');

/** Find the column that identifies the rows, by UCD or name. */
export function findIdColumn(columns: readonly CandidateColumn[]): CandidateColumn | undefined {
    const main = columns.find((column) => ucdWords(column)[0] === 'meta.id' && ucdWords(column).includes('meta.main'));
    return main ?? columns.find(({ name, kind }) => /^(source_?)?(id|name)$/i.test(name) && kind !== 'array');
}

/** Return identifier, position and magnitudes, in the table's order. */
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

/** Find the proper motion along an axis, in a known unit. */
export function findMotionColumn(columns: readonly CandidateColumn[], axis: 'ra' | 'dec'): CandidateColumn | undefined {
    const usable = columns.filter(({ kind, unit }) => kind === 'number' && masPerYear(unit ?? '') !== undefined);
    const pattern = axis === 'ra' ? /^pm_?ra/i : /^pm_?de/i;
    return (
        usable.find((column) => ucdWords(column)[0] === 'pos.pm' && ucdWords(column).includes(`pos.eq.${axis}`)) ??
        usable.find(({ name }) => pattern.test(name))
    );
}
