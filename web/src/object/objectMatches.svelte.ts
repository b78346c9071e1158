/** The rows of all tables around a position, table by table. */

import type { Column } from '../tap/vosiTables';
import { queryRows, toNumber, type Rows } from '../tap/jsonRows';
import { coneQuery } from '../tables/tableQueries';
import { findMotionColumn } from '../match/columnRoles';
import { masPerYear } from '../match/matchQuery';
import { loadObjectTables, type ObjectTable } from './objectTables';

/** Rows of each table that are shown and drawn. */
const MAX_ROWS = 200;
/** Requests at a time: other users have work too. */
const AT_ONCE = 3;

/** Rows further away than this, in degrees, are other objects. */
const SAME_OBJECT = 10 / 3600;

/** A row near the position. */
export interface Neighbour {
    readonly table: string;
    /** position in the table's rows */
    readonly at: number;
    /** degrees, ICRS */
    readonly ra: number;
    readonly dec: number;
    /** from the middle, degrees */
    readonly distance: number;
    /** NaN if unknown */
    readonly magnitude: number;
    /** proper motion in mas/yr (in right ascension times cos dec); undefined if unknown */
    readonly motion?: readonly [number, number];
}

/** Whether a row is of the object itself, not of a neighbour. */
export const isSameObject = ({ distance }: Neighbour): boolean => distance <= SAME_OBJECT;

/** What a table answered. */
export class TableMatch {
    rows = $state.raw<Rows | undefined>();
    failed = $state('');
    readonly neighbours = $derived.by((): readonly Neighbour[] =>
        this.rows ? neighboursOf(this.table, this.rows) : [],
    );

    constructor(
        readonly table: ObjectTable,
        readonly adql: string,
    ) {}
}

export class ObjectMatches {
    matches = $state.raw<readonly TableMatch[]>([]);
    /** all tables of the service that are of use here */
    tables = $state.raw<readonly ObjectTable[]>([]);
    failed = $state('');
    done = $state(false);
    readonly #stop = new AbortController();

    constructor(
        readonly centre: readonly [number, number],
        readonly radius: number,
    ) {}

    /** Ask all tables, a few at a time. Never raises: failures are in `failed` and in the matches. */
    async load(): Promise<void> {
        try {
            this.tables = await loadObjectTables();
        } catch (error) {
            this.failed = (error as Error).message;
            return;
        }
        this.matches = this.tables.flatMap((table) =>
            table.position ? [new TableMatch(table, this.#queryFor(table, table.position))] : [],
        );
        const waiting = [...this.matches];
        const work = async (): Promise<void> => {
            for (let next = waiting.shift(); next; next = waiting.shift()) await this.#ask(next);
        };
        await Promise.all(Array.from({ length: AT_ONCE }, work));
        this.done = !this.#stop.signal.aborted;
    }

    /** End all requests. */
    close(): void {
        this.#stop.abort();
    }

    #queryFor(table: ObjectTable, { ra, dec }: { readonly ra: string; readonly dec: string }): string {
        const named = (name: string) => ({ name }) as Column;
        return coneQuery(table.name, [named(ra), named(dec)], this.centre, this.radius);
    }

    async #ask(match: TableMatch): Promise<void> {
        if (this.#stop.signal.aborted) return;
        try {
            match.rows = await queryRows(match.adql, { maxrec: MAX_ROWS, signal: this.#stop.signal });
        } catch (error) {
            if (!this.#stop.signal.aborted) match.failed = (error as Error).message;
        }
    }
}

/** Return the rows with a position as neighbours; separations are the service's. */
export function neighboursOf(table: ObjectTable, rows: Rows): Neighbour[] {
    const { position } = table;
    if (!position) return [];
    const columnAt = (name: string | undefined) => rows.names.findIndex((each) => each === name?.replaceAll('"', ''));
    const [ra, dec, distance] = [columnAt(position.ra), columnAt(position.dec), rows.names.length - 1];
    const magnitude = rows.columns.findIndex(({ ucd }) => ucd.toLowerCase().split(';')[0] === 'phot.mag');
    const described = rows.columns.map((column) => ({ ...column, kind: 'number' as const }));
    const motions = (['ra', 'dec'] as const).map((axis) => findMotionColumn(described, axis));
    return rows.data.flatMap((row, at) => {
        const where = [toNumber(row[ra]), toNumber(row[dec])] as const;
        if (!where.every(Number.isFinite)) return [];
        const motion = motions.map((column) =>
            column ? toNumber(row[columnAt(column.name)]) * masPerYear(column.unit ?? '')! : NaN,
        );
        return [
            {
                ...{ table: table.name, at, ra: where[0], dec: where[1], distance: toNumber(row[distance]) },
                magnitude: toNumber(row[magnitude]),
                ...(motion.every(Number.isFinite) && { motion: [motion[0]!, motion[1]!] as const }),
            },
        ];
    });
}
