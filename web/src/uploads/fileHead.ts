/** The head of a table in a file, as the service reads it: columns, first rows, number of rows. */

import type { Cell, Field } from '../model/resultModel';
import { parseRows, type Value } from '../tap/jsonRows';
import { kindOf } from '../model/fieldKind';

export interface Head {
    readonly fields: readonly Field[];
    /** one cell per field */
    readonly rows: readonly (readonly Cell[])[];
    /** rows of the whole table */
    readonly count: number;
}

/** Rows shown per file. */
const SHOWN_ROWS = 20;

/** Return the query for the head of an uploaded table: its first rows, each with the total. */
export const headQuery = (name: string): string =>
    `SELECT TOP ${SHOWN_ROWS} t.*, (SELECT COUNT(*) FROM TAP_UPLOAD.${name}) AS skyhouse_rows FROM TAP_UPLOAD.${name} AS t`;

interface Described {
    name: string;
    datatype: string;
    arraysize?: string;
    xtype?: string;
    unit?: string;
    ucd?: string;
    utype?: string;
    description?: string;
}

/**
 * Read the JSON answer to `headQuery`, whose last column is the number of rows. Raises TapError if it is incomplete.
 */
export function headOf(json: string): Head {
    const { data } = parseRows(json);
    const columns = (JSON.parse(json) as { columns: Described[] }).columns.slice(0, -1);
    return {
        fields: columns.map(fieldOf),
        rows: data.map((row) => row.slice(0, -1).map(cellOf)),
        count: Number(data[0]?.at(-1) ?? 0),
    };
}

function fieldOf(column: Described): Field {
    const { name, datatype, arraysize, xtype, unit, ucd, utype, description } = column;
    const known = { arraysize, xtype, unit, ucd, utype, description };
    const given = Object.fromEntries(Object.entries(known).filter(([, value]) => value));
    return { name, datatype, ...given, kind: kindOf(datatype, arraysize, xtype) };
}

function cellOf(value: Value): Cell {
    if (Array.isArray(value)) return value.flat(9).join(' ');
    return value;
}
