/** Keyboard and pointer input of a table: move, mark, choose, sort, copy. */

import { copyBlock } from './copyCells';
import type { Table } from '../model/resultModel';
import { chooseAll, chooseBetween, chooseOne, toggleOne } from './rowChoice';
import type { GridState } from './gridState.svelte';
import { moveCell, nextSorting, type CellPlace } from './cellMoves';

/** Pixels that a key widens a column by. */
const STEP = 16;
const SIDES: Readonly<Record<string, 1 | -1>> = { ArrowRight: 1, ArrowLeft: -1 };

export class GridInput {
    readonly #grid: GridState;
    readonly #table: Table;
    readonly #reveal: (at: CellPlace) => void;
    /** where a choice with Shift starts */
    #pivot = 0;
    #pressed: CellPlace | undefined;

    /** `reveal` scrolls to a cell. */
    constructor(grid: GridState, reveal: (at: CellPlace) => void) {
        [this.#grid, this.#table, this.#reveal] = [grid, grid.table, reveal];
    }

    /** Make a cell active. `extend`: keep the other corner of the block. */
    activateCell(at: CellPlace, extend = false): void {
        const grid = this.#grid;
        grid.corner = extend && at.place >= 0 ? (grid.corner ?? grid.active) : undefined;
        grid.active = at;
        this.#reveal(at);
    }

    /** Handle a key; `link` is the link of the active cell. Return false if the key has no effect. */
    handleKey(event: KeyboardEvent, link: HTMLElement | null, report: (sentence: string) => void): boolean {
        const far = event.ctrlKey || event.metaKey;
        if (event.altKey || (event.shiftKey && this.#grid.active.place < 0 && SIDES[event.key]))
            return this.#changeColumn(event);
        if (far && event.key.toLowerCase() === 'a') void chooseAll(this.#table);
        else if (far && event.key.toLowerCase() === 'c') void copyBlock(this.#grid).then(report);
        else if (event.key === 'Escape') this.#clearChoice();
        else if (event.key === ' ' || event.key === 'Enter') this.#actOnCell(event, link);
        else return this.#moveByKey(event, far);
        return true;
    }

    #moveByKey(event: KeyboardEvent, far: boolean): boolean {
        const { places, slots } = { places: this.#table.shown, slots: this.#grid.arrangement.shown.length };
        const to = moveCell(this.#grid.active, event.key, far, { places, slots, page: this.#grid.scroller.page });
        if (to) this.activateCell(to, event.shiftKey);
        return to !== undefined;
    }

    /** On a column name: with Alt make it wider or narrower, or open its menu; with Shift move it. */
    #changeColumn({ key, altKey }: KeyboardEvent): boolean {
        const grid = this.#grid;
        const { place, slot } = grid.active;
        const column = grid.columnAt(slot);
        if (place >= 0 || column < 0) return false;
        if (key === 'ArrowDown') {
            grid.menuColumn = column;
            return true;
        }
        const step = SIDES[key];
        if (step === undefined) return false;
        if (!altKey) {
            grid.arrangement.stepColumn(column, step);
            this.activateCell({ place, slot: grid.arrangement.shown.indexOf(column) });
        } else grid.setWidth(column, (grid.widths[column] ?? 0) + step * STEP);
        return true;
    }

    #clearChoice(): void {
        if (this.#grid.corner) this.#grid.corner = undefined;
        else this.#table.chooseRows(undefined);
    }

    #actOnCell(event: KeyboardEvent, link: HTMLElement | null): void {
        const { place, slot } = this.#grid.active;
        const column = this.#grid.columnAt(slot);
        if (place < 0) void this.#table.sortBy(nextSorting(this.#table.sorting, column, event.shiftKey));
        else if (event.key === 'Enter' && link && !event.shiftKey) link.click();
        else if (event.key === 'Enter') this.#grid.isRowOpen = true;
        else if (event.shiftKey) void chooseBetween(this.#table, this.#pivot, place, false);
        else {
            this.#pivot = place;
            toggleOne(this.#table, this.#grid.rowAt(place));
        }
    }

    /** Start a block of cells. */
    handlePress(event: PointerEvent): void {
        const at = pointedAt(event);
        this.#pressed = at && at.slot >= 0 ? at : undefined;
        this.#grid.corner = undefined;
    }

    /** Track the row under the pointer, and extend the block while the mouse is pressed. */
    handleHover(event: PointerEvent): void {
        const [at, grid, from] = [pointedAt(event), this.#grid, this.#pressed];
        this.#table.hovered = at ? grid.rowAt(at.place) : -1;
        if (!at || !from || event.pointerType !== 'mouse' || !(event.buttons & 1) || at.slot < 0) return;
        if (!grid.corner && at.place === from.place && at.slot === from.slot) return;
        [grid.corner, grid.active] = [from, at];
    }

    /** Open the row of a double click, or of its button. */
    handleOpening(event: MouseEvent): void {
        const at = pointedAt(event);
        if (!at) return;
        this.#grid.active = { place: at.place, slot: at.slot < 0 ? this.#grid.active.slot : at.slot };
        this.#grid.isRowOpen = true;
    }

    /** Choose the clicked row: with Ctrl in addition, with Shift all from the last one. */
    handleClick(event: MouseEvent): void {
        const [at, grid, table] = [pointedAt(event), this.#grid, this.#table];
        this.#pressed = undefined;
        if (!at || grid.corner || (event.target instanceof Element && event.target.closest('a, button'))) return;
        grid.active = { place: at.place, slot: Math.max(0, at.slot) };
        const more = event.ctrlKey || event.metaKey;
        if (event.shiftKey) return void chooseBetween(table, this.#pivot, at.place, more);
        this.#pivot = at.place;
        if (more) toggleOne(table, grid.rowAt(at.place));
        else chooseOne(table, grid.rowAt(at.place));
    }
}

/** Return the cell of an event; slot -1 is the row number. */
function pointedAt(event: Event): CellPlace | undefined {
    const cell = event.target instanceof Element ? event.target.closest<HTMLElement>('[data-place]') : null;
    return cell ? { place: Number(cell.dataset['place']), slot: Number(cell.dataset['slot'] ?? -1) } : undefined;
}
