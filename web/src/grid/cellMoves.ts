/** Where a key moves the active cell. */

/** A cell; `place` -1 is the header, `slot` counts the shown columns from the left. */
export interface CellPlace {
    readonly place: number;
    readonly slot: number;
}

export interface GridExtent {
    readonly places: number;
    readonly slots: number;
    /** rows per page */
    readonly page: number;
}

/** Return the cell that a key goes to; undefined for other keys. `far`: with Ctrl or Cmd. */
export function moveCell(
    at: CellPlace,
    key: string,
    far: boolean,
    { places, slots, page }: GridExtent,
): CellPlace | undefined {
    const [last, end] = [places - 1, slots - 1];
    const to = (place: number, slot: number): CellPlace => ({
        place: Math.min(Math.max(place, -1), last),
        slot: Math.min(Math.max(slot, 0), Math.max(end, 0)),
    });
    switch (key) {
        case 'ArrowDown':
            return to(far ? last : at.place + 1, at.slot);
        case 'ArrowUp':
            return to(far ? Math.min(0, at.place - 1) : at.place - 1, at.slot);
        case 'ArrowRight':
            return to(at.place, far ? end : at.slot + 1);
        case 'ArrowLeft':
            return to(at.place, far ? 0 : at.slot - 1);
        case 'PageDown':
            return to(at.place + page, at.slot);
        case 'PageUp':
            return to(Math.max(Math.min(at.place, 0), at.place - page), at.slot);
        case 'Home':
            return to(far ? 0 : at.place, 0);
        case 'End':
            return to(far ? last : at.place, end);
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
