/** A table in memory for unit tests. */

import { planColumns } from '../../expression/computedColumn';
import { evaluatePlan } from '../../expression/planEvaluation';
import type {
    Cell,
    ComputedColumn,
    Facet,
    Field,
    Filter,
    Sort,
    State,
    Table,
    TextRequest,
} from '../../model/resultModel';

export class MemoryTable implements Table {
    state: State = { phase: 'complete' };
    version = 1;
    sorting: readonly Sort[] = [];
    filters: readonly Filter[] = [];
    chosen: Uint8Array | undefined;
    computed: readonly ComputedColumn[] = [];
    hovered = -1;
    shownRows: readonly number[];

    constructor(
        public fields: readonly Field[],
        private columns: readonly (readonly Cell[])[],
    ) {
        this.shownRows = [...(columns[0] ?? []).keys()];
    }

    get rows(): number {
        return this.columns[0]?.length ?? 0;
    }
    get shown(): number {
        return this.shownRows.length;
    }
    get chosenCount(): number {
        return this.chosen?.reduce((sum, mark) => sum + mark, 0) ?? 0;
    }

    async readPage(from: number, to: number, columns = [...this.fields.keys()]) {
        const rows = Uint32Array.from(this.shownRows.slice(from, to));
        const cells = Array.from(rows, (row) => columns.map((column) => this.columns[column]?.[row] ?? null));
        return { rows, cells };
    }
    async readNumbers(column: number) {
        return Float64Array.from(this.columns[column]!, (cell) =>
            cell === null || typeof cell === 'string' ? NaN : Number(cell),
        );
    }
    async readOrder() {
        return Uint32Array.from(this.shownRows);
    }
    async summarizeColumn() {
        return { min: 0, max: 0, mean: 0, missing: 0 };
    }
    async sortBy(by: readonly Sort[]) {
        this.sorting = by;
    }
    async filterBy(by: readonly Filter[]) {
        this.filters = by;
    }
    async computeColumns(columns: readonly ComputedColumn[]) {
        const stored = this.fields.length - this.computed.length;
        const plans = planColumns(columns, this.fields.slice(0, stored));
        this.fields = this.fields.slice(0, stored);
        this.columns = this.columns.slice(0, stored);
        const numbersOf = (column: number) => Float64Array.from(this.columns[column]!, (cell) => Number(cell ?? NaN));
        for (const { plan, field } of plans) {
            const { values } = evaluatePlan(plan, {
                length: this.rows,
                readNumbers: (column) => ({ values: numbersOf(column), missing: undefined }),
                readTexts: (column) => (row) => this.columns[column]![row] as string | null,
            });
            this.columns = [...this.columns, Array.from(values)];
            this.fields = [...this.fields, field];
        }
        this.computed = columns;
    }
    async previewColumn(): Promise<Cell[]> {
        return [];
    }
    async countFacets(): Promise<Facet[]> {
        return [];
    }
    async readRows(rows: Uint32Array, columns: readonly number[]) {
        return Array.from(rows, (row) => columns.map((column) => this.columns[column]?.[row] ?? null));
    }
    chooseRows(rows: Uint8Array | undefined): void {
        this.chosen = rows;
    }
    async writeText(what: TextRequest) {
        return new Blob([what.format]);
    }
    stop(): void {}
    close(): void {}
}

export const number = (name: string, ucd = '', unit = ''): Field => ({
    name,
    datatype: 'double',
    kind: 'number',
    ucd,
    unit,
});
export const words = (name: string, ucd = ''): Field => ({ name, datatype: 'char', arraysize: '*', kind: 'text', ucd });
export const instants = (name: string, ucd = ''): Field => ({
    name,
    datatype: 'char',
    xtype: 'timestamp',
    kind: 'time',
    ucd,
});
