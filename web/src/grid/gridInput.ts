/** Keyboard and pointer input of a table: move, mark, choose, sort, copy. */

import { copyBlock } from './copyCells';
import type { Table } from '../model/resultModel';
import { chooseAll, chooseBetween, chooseOne, toggleOne } from './rowChoice';
import type { GridState } from './gridState.svelte';
import { moveCell, nextSorting, type CellPosition } from './cellMoves';

/** Pixels that a key widens a column by. */
const STEP = 16;
const SIDES: Readonly<Record<string, 1 | -1>> = { ArrowRight: 1, ArrowLeft: -1 };

export class GridInput {
    readonly #grid: GridState;
    readonly #table: Table;
    readonly #reveal: (at: CellPosition) => void;
    /** where a choice with Shift starts */
    #pivot = 0;
    #pressed: CellPosition | undefined;

    /** `reveal` scrolls to a cell. */
    constructor(grid: GridState, reveal: (at: CellPosition) => void) {
        [this.#grid, this.#table, this.#reveal] = [grid, grid.table, reveal];
    }

    /** Make a cell active. `extend`: keep the other corner of the block. */
    activateCell(at: CellPosition, extend = false): void {
        const grid = this.#grid;
        grid.corner = extend && at.index >= 0 ? (grid.corner ?? grid.active) : undefined;
        grid.active = at;
        this.#reveal(at);
    }

    /** Handle a key; `link` is the link of the active cell. Return false if the key has no effect. */
    handleKey(event: KeyboardEvent, link: HTMLElement | null, report: (sentence: string) => void): boolean {
        const far = event.ctrlKey || event.metaKey;
        if (event.altKey || (event.shiftKey && this.#grid.active.index < 0 && SIDES[event.key]))
            return this.#changeColumn(event);
        if (far && event.key.toLowerCase() === 'a') void chooseAll(this.#table);
        else if (far && event.key.toLowerCase() === 'c') void copyBlock(this.#grid).then(report);
        else if (event.key === 'Escape') this.#clearChoice();
        else if (event.key === ' ' || event.key === 'Enter') this.#actOnCell(event, link);
        else return this.#moveByKey(event, far);
        return true;
    }

    #moveByKey(event: KeyboardEvent, far: boolean): boolean {
        const extent = { rows: this.#table.shown, slots: this.#grid.arrangement.shown.length };
        const to = moveCell(this.#grid.active, event.key, far, { ...extent, page: this.#grid.scroller.page });
        if (to) this.activateCell(to, event.shiftKey);
        return to !== undefined;
    }

    /** On a column name: with Alt make it wider or narrower, or open its menu; with Shift move it. */
    #changeColumn({ key, altKey }: KeyboardEvent): boolean {
        const grid = this.#grid;
        const { index, slot } = grid.active;
        const column = grid.columnAt(slot);
        if (index >= 0 || column < 0) return false;
        if (key === 'ArrowDown') {
            grid.menuColumn = column;
            return true;
        }
        const step = SIDES[key];
        if (step === undefined) return false;
        if (!altKey) {
            grid.arrangement.stepColumn(column, step);
            this.activateCell({ index, slot: grid.arrangement.shown.indexOf(column) });
        } else grid.setWidth(column, (grid.widths[column] ?? 0) + step * STEP);
        return true;
    }

    #clearChoice(): void {
        if (this.#grid.corner) this.#grid.corner = undefined;
        else this.#table.chooseRows(undefined);
    }

    #actOnCell(event: KeyboardEvent, link: HTMLElement | null): void {
        const { index, slot } = this.#grid.active;
        const column = this.#grid.columnAt(slot);
        if (index < 0) void this.#table.sortBy(nextSorting(this.#table.sorting, column, event.shiftKey));
        else if (event.key === 'Enter' && link && !event.shiftKey) link.click();
        else if (event.key === 'Enter') this.#grid.isRowOpen = true;
        else if (event.shiftKey) void chooseBetween(this.#table, this.#pivot, index, false);
        else {
            this.#pivot = index;
            toggleOne(this.#table, this.#grid.rowAt(index));
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
        this.#table.hovered = at ? grid.rowAt(at.index) : -1;
        if (!at || !from || event.pointerType !== 'mouse' || !(event.buttons & 1) || at.slot < 0) return;
        if (!grid.corner && at.index === from.index && at.slot === from.slot) return;
        [grid.corner, grid.active] = [from, at];
    }

    /** Open the row of a double click, or of its button. */
    handleOpening(event: MouseEvent): void {
        const at = pointedAt(event);
        if (!at) return;
        this.#grid.active = { index: at.index, slot: at.slot < 0 ? this.#grid.active.slot : at.slot };
        this.#grid.isRowOpen = true;
    }

    /** Choose the clicked row: with Ctrl in addition, with Shift all from the last one. */
    handleClick(event: MouseEvent): void {
        const [at, grid, table] = [pointedAt(event), this.#grid, this.#table];
        this.#pressed = undefined;
        if (!at || grid.corner || (event.target instanceof Element && event.target.closest('a, button'))) return;
        grid.active = { index: at.index, slot: Math.max(0, at.slot) };
        const more = event.ctrlKey || event.metaKey;
        if (event.shiftKey) return void chooseBetween(table, this.#pivot, at.index, more);
        this.#pivot = at.index;
        if (more) toggleOne(table, grid.rowAt(at.index));
        else chooseOne(table, grid.rowAt(at.index));
    }
}

/** Return the cell of an event; slot -1 is the row number. */
function pointedAt(event: Event): CellPosition | undefined {
    const cell = event.target instanceof Element ? event.target.closest<HTMLElement>('[data-index]') : null;
    return cell ? { index: Number(cell.dataset['index']), slot: Number(cell.dataset['slot'] ?? -1) } : undefined;
}
