/** Rows with columns that are computed from the others, batch by batch as they arrive. */

import type { ColumnPlan } from '../expression/computedColumn';
import { evaluatePlan, type RowSource, type Vector } from '../expression/planEvaluation';
import { isNull, textReader, writeNumbers, type Bytes, type ColumnPart } from '../model/columnParts';
import { ColumnStore } from '../model/columnStore';
import { parseMjd } from '../model/instants';
import type { Cell } from '../model/resultModel';

export class ComputedRows extends ColumnStore {
    #plans: readonly ColumnPlan[] = [];

    override addBatch(length: number, parts: readonly ColumnPart[]): void {
        const all = [...parts];
        for (const plan of this.#plans) all.push(computePart(plan, length, all));
        super.addBatch(length, all);
    }

    /** Replace the computed columns. The columns before the first change are kept. */
    computeColumns(plans: readonly ColumnPlan[]): void {
        const stored = this.fields.length - this.#plans.length;
        const changed = plans.findIndex((plan, at) => !isSamePlan(plan, this.#plans[at]));
        const kept = changed < 0 ? plans.length : changed;
        this.dropColumns(stored + kept);
        for (const plan of plans.slice(kept)) {
            const parts = this.starts.map((_, batch) => {
                const others = this.fields.map((_, column) => this.partsOf(column)[batch]!);
                return computePart(plan, others[0]?.length ?? 0, others);
            });
            this.addColumn(plan.field, parts);
        }
        this.#plans = plans;
    }

    /** Compute a column for some rows only. */
    previewColumn({ plan, field }: ColumnPlan, rows: readonly number[]): Cell[] {
        const source: RowSource = {
            length: rows.length,
            readNumbers: (at) => {
                const cells = rows.map((row) => this.readRow(row, [at])[0] ?? null);
                const isTime = this.fields[at]?.kind === 'time';
                return {
                    values: Float64Array.from(cells, (cell) =>
                        cell === null ? NaN : isTime ? parseMjd(String(cell)) : Number(cell),
                    ),
                    missing: Uint8Array.from(cells, (cell) => +(cell === null)),
                };
            },
            readTexts: (at) => {
                const cells = rows.map((row) => this.readRow(row, [at])[0] ?? null);
                return (row) => cells[row] as string | null;
            },
        };
        const { values, missing } = evaluatePlan(plan, source);
        return Array.from(values, (value, at) =>
            missing?.[at] ? null : field.kind === 'boolean' ? value === 1 : value,
        );
    }
}

const isSamePlan = (one: ColumnPlan, other: ColumnPlan | undefined): boolean =>
    JSON.stringify([one.field, one.plan]) === JSON.stringify([other?.field, other?.plan]);

function computePart({ plan, field }: ColumnPlan, length: number, parts: readonly ColumnPart[]): ColumnPart {
    const { values, missing } = evaluatePlan(plan, {
        length,
        readNumbers: (column) => readVector(parts[column]!),
        readTexts: (column) => {
            const part = parts[column]!;
            const read = textReader(part);
            return (at) => (isNull(part, at) ? null : read(at));
        },
    });
    const valid = missing?.includes(1) ? packBits(missing, 0) : undefined;
    return field.kind === 'boolean'
        ? { type: 'boolean', length, bits: packBits(values, 1), valid }
        : { type: 'number', length, values, valid };
}

function readVector(part: ColumnPart): Vector {
    const values = new Float64Array(part.length);
    writeNumbers(part, values, 0);
    if (!part.valid) return { values, missing: undefined };
    const missing = new Uint8Array(part.length);
    for (let at = 0; at < missing.length; at++) missing[at] = +isNull(part, at);
    return { values, missing };
}

/** Return a bit per value, set where it equals `wanted`. */
function packBits(values: ArrayLike<number>, wanted: number): Bytes {
    const bits = new Uint8Array(Math.ceil(values.length / 8));
    for (let at = 0; at < values.length; at++) if (values[at] === wanted) bits[at >> 3]! |= 1 << (at & 7);
    return bits;
}
