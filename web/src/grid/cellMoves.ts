/** Where a key moves the active cell. */

/** A cell; `index` -1 is the header, `slot` counts the shown columns from the left. */
export interface CellPosition {
    readonly index: number;
    readonly slot: number;
}

export interface GridExtent {
    readonly rows: number;
    readonly slots: number;
    /** rows per page */
    readonly page: number;
}

/** Return the cell that a key goes to; undefined for other keys. `far`: with Ctrl or Cmd. */
export function moveCell(
    at: CellPosition,
    key: string,
    far: boolean,
    { rows, slots, page }: GridExtent,
): CellPosition | undefined {
    const [last, end] = [rows - 1, slots - 1];
    const to = (index: number, slot: number): CellPosition => ({
        index: Math.min(Math.max(index, -1), last),
        slot: Math.min(Math.max(slot, 0), Math.max(end, 0)),
    });
    switch (key) {
        case 'ArrowDown':
            return to(far ? last : at.index + 1, at.slot);
        case 'ArrowUp':
            return to(far ? Math.min(0, at.index - 1) : at.index - 1, at.slot);
        case 'ArrowRight':
            return to(at.index, far ? end : at.slot + 1);
        case 'ArrowLeft':
            return to(at.index, far ? 0 : at.slot - 1);
        case 'PageDown':
            return to(at.index + page, at.slot);
        case 'PageUp':
            return to(Math.max(Math.min(at.index, 0), at.index - page), at.slot);
        case 'Home':
            return to(far ? 0 : at.index, 0);
        case 'End':
            return to(far ? last : at.index, end);
    }
    return undefined;
}

/** Return the next sorting by a column: ascending, descending, none; `more`: keep other columns. */
export function nextSorting<S extends { column: number; descending: boolean }>(
    sorting: readonly S[],
    column: number,
    more: boolean,
): { column: number; descending: boolean }[] {
    const now = sorting.find((sort) => sort.column === column);
    const next = !now ? [{ column, descending: false }] : now.descending ? [] : [{ column, descending: true }];
    if (!more) return next;
    if (!now) return [...sorting, ...next];
    return sorting.flatMap((sort) => (sort.column === column ? next : [sort]));
}
