/** Which columns of a table are shown, in which order, and which are pinned to the left. Columns are identified by name. */

import type { ComputedColumn, Table } from '../model/resultModel';

/** An arrangement that outlasts the page; unknown columns are ignored. */
export interface KeptArrangement {
    readonly computed?: readonly ComputedColumn[];
    readonly order?: readonly string[];
    readonly hidden?: readonly string[];
    readonly pinned?: readonly string[];
}

export class ColumnArrangement {
    /** names of columns that were moved, with those before them */
    #order = $state.raw<readonly string[]>([]);
    #hidden = $state.raw<readonly string[]>([]);
    #pinned = $state.raw<readonly string[]>([]);

    constructor(readonly table: Table) {}

    /** A name for each column of the table; the second of two equal ones gets a number. */
    readonly #names: readonly string[] = $derived.by(() => {
        const names: string[] = [];
        for (const { name } of this.table.fields) {
            let own = name;
            for (let n = 2; names.includes(own); n++) own = `${name}#${n}`;
            names.push(own);
        }
        return names;
    });

    /** All columns in their order, hidden ones too; pinned ones first. */
    readonly all: readonly number[] = $derived.by(() => {
        const names = this.#names;
        const moved = this.#order.map((name) => names.indexOf(name)).filter((column) => column >= 0);
        const columns = insertOthers(moved, names.length);
        return [...columns.filter((column) => this.isPinned(column)), ...columns.filter((at) => !this.isPinned(at))];
    });
    /** The columns that are shown, in their order. */
    readonly shown: readonly number[] = $derived.by(() => {
        const shown = this.all.filter((column) => !this.isHidden(column));
        // a table without columns could not be brought back by its header
        return shown.length ? shown : this.all.slice(0, 1);
    });
    /** Number of shown columns that are pinned to the left. */
    readonly pinnedCount: number = $derived(this.shown.filter((column) => this.isPinned(column)).length);
    /** Whether the columns are shown as the result has them. */
    readonly isChanged: boolean = $derived(this.#order.length + this.#hidden.length + this.#pinned.length > 0);

    isHidden(column: number): boolean {
        return this.#hidden.includes(this.#names[column] ?? '');
    }

    isPinned(column: number): boolean {
        return this.#pinned.includes(this.#names[column] ?? '');
    }

    showColumns(columns: readonly number[], isShown: boolean): void {
        const names = columns.map((column) => this.#names[column]!);
        const others = this.#hidden.filter((name) => !names.includes(name));
        this.#hidden = isShown ? others : [...others, ...names];
    }

    pinColumn(column: number, isPinned: boolean): void {
        const name = this.#names[column]!;
        const others = this.#pinned.filter((other) => other !== name);
        this.#pinned = isPinned ? [...others, name] : others;
    }

    /** Move a column before another one; undefined: to the end. A column next to pinned ones is pinned, too. */
    moveColumn(column: number, before: number | undefined): void {
        if (column === before) return;
        const others = this.all.filter((other) => other !== column);
        const at = before === undefined ? others.length : others.indexOf(before);
        this.#order = [...others.slice(0, at), column, ...others.slice(at)].map((other) => this.#names[other]!);
        const [left, right] = [others[at - 1], others[at]];
        const isAmongPinned = right !== undefined && this.isPinned(right);
        const isBehindThem = left !== undefined && this.isPinned(left) && this.isPinned(column);
        this.pinColumn(column, isAmongPinned || isBehindThem);
    }

    /** Move a column by one index among the shown ones. */
    stepColumn(column: number, by: 1 | -1): void {
        const at = this.shown.indexOf(column);
        const other = this.shown[at + by];
        // pinned and other columns do not change indexes
        if (other === undefined || this.isPinned(other) !== this.isPinned(column)) return;
        if (by < 0) this.moveColumn(column, other);
        else this.moveColumn(other, column);
    }

    /** Show all columns as the result has them. */
    reset(): void {
        [this.#order, this.#hidden, this.#pinned] = [[], [], []];
    }

    /** Return the state that outlasts the page; an empty object if nothing was changed. */
    toKept(): KeptArrangement {
        const { computed } = this.table;
        return {
            ...(computed.length && { computed }),
            ...(this.#order.length && { order: this.#order }),
            ...(this.#hidden.length && { hidden: this.#hidden }),
            ...(this.#pinned.length && { pinned: this.#pinned }),
        };
    }

    /**
     * Restore what was kept. The table must have its fields. Computed columns whose expressions no longer fit the table
     * are left out; their names are returned.
     */
    async fromKept(kept: KeptArrangement): Promise<string[]> {
        const left: string[] = [];
        const computed = readComputed(kept.computed);
        for (const column of computed) {
            if (this.table.computed.some(({ name }) => name === column.name)) continue;
            await this.table.computeColumns([...this.table.computed, column]).catch(() => left.push(column.name));
        }
        [this.#order, this.#hidden, this.#pinned] = [kept.order, kept.hidden, kept.pinned].map(readNames) as [
            ...[string[], string[], string[]],
        ];
        return left;
    }
}

/** Put the columns that are not among `moved` behind the one that precedes them in the result. */
function insertOthers(moved: readonly number[], length: number): number[] {
    const columns = [...moved];
    for (let column = 0; column < length; column++)
        if (!moved.includes(column)) columns.splice(columns.indexOf(column - 1) + 1, 0, column);
    return columns;
}

const readNames = (kept: unknown): string[] =>
    Array.isArray(kept) ? kept.filter((name): name is string => typeof name === 'string') : [];

function readComputed(kept: unknown): ComputedColumn[] {
    if (!Array.isArray(kept)) return [];
    return kept.flatMap((column: Partial<ComputedColumn> | null) => {
        const { name, expression, unit, isDeclared } = column ?? {};
        if (typeof name !== 'string' || typeof expression !== 'string') return [];
        const known = { name, expression, ...(typeof unit === 'string' && { unit }) };
        return [isDeclared === true ? { ...known, isDeclared } : known];
    });
}
