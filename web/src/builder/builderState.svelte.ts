/** The state of the query builder. It outlives the page, and is kept in the browser. */

import { firstColumns } from '../match/columnRoles';
import { loadCandidates } from '../match/candidateColumns';
import { fileOfTable, isUpload } from '../uploads/uploadSchema';
import { findJoinPairs, findRelated } from '../match/joinPairs';
import { readStored, writeStored } from '../browser/storedValues';
import { loadTableKeys, type TableKey } from '../tap/tableKeys';
import { text } from '../text';
import { guessPosition } from '../uploads/positionGuess';
import { files } from '../uploads/userFiles.svelte';
import { findProblems } from './draftProblems';
import {
    EMPTY_DRAFT,
    EMPTY_JOIN,
    freeAlias,
    summarizeColumn,
    type DraftColumn,
    type DraftCondition,
    type DraftJoin,
    type DraftRegion,
    type QueryDraft,
    type TableSide,
} from './queryDraft';
import { writeQuery } from './writeQuery';

const KEPT = 'builder';
/** Number of columns chosen at first if the roles of the columns are unknown. */
const FIRST = 8;

class BuilderState {
    draft = $state.raw<QueryDraft>({ ...EMPTY_DRAFT, ...readStored<Partial<QueryDraft>>(KEPT, {}) });
    /** known facts about the tables of the draft */
    sides = $state.raw<readonly TableSide[]>([]);
    keys = $state.raw<readonly TableKey[]>([]);
    /** why the columns of a table are unknown; '' if they are known */
    failed = $state('');

    readonly problems: readonly string[] = $derived(this.failed ? [this.failed] : findProblems(this.draft, this.sides));
    readonly adql: string = $derived(writeQuery(this.draft, this.sides));
    /** tables that keys connect with the tables of the draft */
    readonly related: readonly string[] = $derived(
        findRelated(
            this.draft.tables.map(({ table }) => table),
            this.keys,
        ),
    );

    /** Load what the kept draft names. Never raises; `failed` holds the reason. */
    async restore(): Promise<void> {
        void this.#loadKeys();
        for (const { alias, table } of this.draft.tables) await this.#loadSide(alias, table);
    }

    change(part: Partial<QueryDraft>): void {
        this.draft = { ...this.draft, ...part };
    }

    changeRegion(part: Partial<DraftRegion>): void {
        this.change({ region: { ...this.draft.region, ...part } });
    }

    changeCondition(id: string, part: Partial<DraftCondition>): void {
        const conditions = this.draft.conditions.map((one) => (one.id === id ? { ...one, ...part } : one));
        this.change({ conditions });
    }

    changeJoin(alias: string, part: Partial<DraftJoin>): void {
        const tables = this.draft.tables.map((one) =>
            one.alias === alias && one.join ? { ...one, join: { ...one.join, ...part } } : one,
        );
        this.change({ tables });
    }

    /** Choose columns of one table; the columns of other tables do not change. */
    changeColumns(alias: string, chosen: readonly DraftColumn[]): void {
        this.change({ columns: [...this.draft.columns.filter((one) => one.alias !== alias), ...chosen] });
    }

    /** Choose these columns of a table, in a query of groups with summaries. */
    chooseColumns(side: TableSide, names: readonly string[]): void {
        const { alias } = side;
        const isGrouped = this.draft.result === 'groups';
        this.changeColumns(
            alias,
            names.map((column) => (isGrouped ? summarizeColumn(side, column) : { alias, column })),
        );
    }

    /** Start again with a table. The region stays if the table has positions. */
    async chooseFirst(table: string): Promise<void> {
        const { region } = this.draft;
        this.sides = [];
        this.failed = '';
        this.draft = { ...EMPTY_DRAFT, region, tables: [{ alias: 'a', table }] };
        void this.#loadKeys();
        const side = await this.#loadSide('a', table);
        if (!side) return;
        this.chooseColumns(side, findFew(side));
        this.changeRegion(side.position ? { alias: 'a' } : { alias: '', shape: 'everywhere' });
    }

    /** Join another table to the first one that it fits. */
    async addTable(table: string): Promise<void> {
        const alias = freeAlias(this.draft.tables);
        const join: DraftJoin = { ...EMPTY_JOIN, with: this.draft.tables[0]!.alias };
        this.change({ tables: [...this.draft.tables, { alias, table, join }] });
        await this.#loadKeys();
        const side = await this.#loadSide(alias, table);
        if (!side) return;
        if (this.draft.result !== 'groups') this.chooseColumns(side, findFew(side));
        this.changeJoin(alias, this.guessJoin(side));
    }

    /** Return the most likely join of a table: by a key, or else by position, or else by equal identifiers. */
    guessJoin(side: TableSide, others = this.sides.filter(({ alias }) => alias !== side.alias)): Partial<DraftJoin> {
        const found = others.map((other) => ({ other, ways: findJoinPairs(side, other, this.keys) }));
        const key = found.find(({ ways }) => ways[0]?.isKey);
        const placed = others.find(({ position }) => position && side.position);
        if (!key && placed) return { with: placed.alias, by: 'position', pairs: [] };
        const way = key ?? found.find(({ ways }) => ways.length > 0) ?? found[0];
        if (!way) return {};
        return { with: way.other.alias, by: 'columns', pairs: way.ways[0]?.pairs ?? [{ own: '', other: '' }] };
    }

    reset(): void {
        [this.draft, this.sides, this.failed] = [EMPTY_DRAFT, [], ''];
    }

    /** Store the draft in the browser. */
    keep(): void {
        writeStored(KEPT, this.draft);
    }

    /** The user's files that the query uploads. */
    get uploads() {
        return this.draft.tables.flatMap(({ table }) => {
            const file = fileOfTable(table);
            return file ? [{ name: file.name, blob: file.blob, fields: file.head?.fields }] : [];
        });
    }

    get blobs(): Record<string, Blob> {
        return files.blobsOf(this.uploads.map(({ name }) => name));
    }

    async #loadKeys(): Promise<void> {
        // keys are a help: without them users choose the columns
        this.keys = await loadTableKeys().catch(() => []);
    }

    async #loadSide(alias: string, table: string): Promise<TableSide | undefined> {
        try {
            const columns = await loadCandidates(table);
            if (isUpload(table) && columns.length === 0) throw new Error(text.builder.missing.file(table));
            if (!this.draft.tables.some((one) => one.alias === alias && one.table === table)) return undefined;
            const position = fileOfTable(table)?.position ?? guessPosition(columns);
            const side: TableSide = { alias, table, columns, position };
            this.sides = [...this.sides.filter((one) => one.alias !== alias), side];
            return side;
        } catch (error) {
            this.failed = (error as Error).message;
            return undefined;
        }
    }
}

/** Return the names of the most useful columns of a table. */
export function findFew({ columns, position }: TableSide): string[] {
    const first = firstColumns(columns, position);
    return first.length > 0 ? first : columns.slice(0, FIRST).map(({ name }) => name);
}

export const builder = new BuilderState();
