/** The position of a result's row, for other programs. */

import type { Field, Table } from '../model/resultModel';

const [RA, DEC] = [/^_?ra(_?j2000|_?icrs)?$/i, /^_?de(c|j2000|_?icrs|c_?j2000)?$/i];

/** Find the columns of right ascension and declination, in degrees; undefined if there are none. */
export function findPositionColumns(fields: readonly Field[]): readonly [number, number] | undefined {
    const find = (is: (field: Field) => boolean) => fields.findIndex((field) => field.kind === 'number' && is(field));
    for (const found of [
        [find(({ ucd }) => ucd === 'pos.eq.ra;meta.main'), find(({ ucd }) => ucd === 'pos.eq.dec;meta.main')],
        [find(({ ucd }) => ucd?.split(';')[0] === 'pos.eq.ra'), find(({ ucd }) => ucd?.split(';')[0] === 'pos.eq.dec')],
        [find(({ name }) => RA.test(name)), find(({ name }) => DEC.test(name))],
    ] as const) {
        if (found[0]! >= 0 && found[1]! >= 0) return [found[0]!, found[1]!];
    }
    return undefined;
}

/** Return the position of a row, ICRS degrees; undefined if unknown. */
export async function readRowPosition(table: Table, row: number): Promise<readonly [number, number] | undefined> {
    const columns = findPositionColumns(table.fields);
    if (!columns) return undefined;
    const [ra, dec] = (await Promise.all(columns.map((column) => table.readNumbers(column)))).map(
        (values) => values[row],
    );
    return Number.isFinite(ra) && Number.isFinite(dec) ? [ra!, dec!] : undefined;
}
