/** One table of a match: a file, a stored table or an open result, with its choices. */

import { areSameNames, tableNameOfFile } from '../adql/adqlNames';
import { openTables, type OpenTable } from '../model/openTables.svelte';
import { MAX_UPLOADED_ROWS } from '../rows/rowsUpload';
import { counted, text } from '../text';
import { files, type UserFile } from '../uploads/userFiles.svelte';
import { fileOfTable, isUpload } from '../uploads/uploadSchema';
import { loadCandidates } from './candidateColumns';
import type { CheckedUpload } from './queryCheck';
import { subqueryOf } from './resultSide';
import { guessPosition, type CandidateColumn, type Position } from '../uploads/positionGuess';
import { firstColumns, findIdColumn, findMotionColumn } from './columnRoles';
import { masPerYear, perArcsec, type PositionErrors, type Motion, type MatchTable } from './matchQuery';

const texts = text.uploads.wizard;
/** A file or result with at most this many columns is chosen whole. */
const MAX_WHOLE = 8;

export class MatchSide {
    /** as ADQL writes it: a name, or a subquery in parentheses; '' if none is chosen */
    table = $state('');
    /** the open result that it is */
    result = $state.raw<OpenTable | undefined>();
    columns = $state.raw<readonly CandidateColumn[]>([]);
    position = $state.raw<Position | undefined>();
    /** names of the columns of the result */
    chosen = $state.raw<readonly string[]>([]);
    /** column of position errors; '' for none */
    errors = $state('');
    moving = $state(false);
    from = $state<number | null>(2000);
    to = $state<number | null>(2016);
    loading = $state(false);
    /** why the columns are unknown; '' if they are known */
    failed = $state('');

    /** Whether the table still exists: files may have been removed or renamed, results closed. */
    get isThere(): boolean {
        const { result } = this;
        if (result) return openTables.list.some(({ table }) => table === result.table);
        return this.table !== '' && (!isUpload(this.table) || this.file !== undefined);
    }

    get file(): UserFile | undefined {
        return this.result ? undefined : fileOfTable(this.table);
    }

    /** What sentences call it. */
    get title(): string {
        return this.result?.title ?? this.table;
    }

    /** How a result takes part in the query; '' for other tables. */
    get how(): string {
        if (!this.result) return '';
        const rows = counted(this.result.table.shown, 'row');
        return this.#isUploaded ? texts.resultSent(rows) : texts.resultRepeated;
    }

    get #isUploaded(): boolean {
        return this.result !== undefined && isUpload(this.table);
    }

    /** What the query uploads of it. */
    get uploads(): readonly CheckedUpload[] {
        const { file, result } = this;
        if (file) return [{ name: file.name, blob: file.blob, fields: file.head?.fields }];
        return result && this.#isUploaded ? [{ name: this.#uploadName, fields: result.table.fields }] : [];
    }

    get #uploadName(): string {
        return this.table.replace(/^TAP_UPLOAD\./i, '');
    }

    /** Return the files that the query uploads of it. Raises Error with a sentence. */
    async writeFiles(): Promise<Record<string, Blob>> {
        const { file, result } = this;
        if (file) return files.blobsOf([file.name]);
        if (!result || !this.#isUploaded) return {};
        if (result.table.shown > MAX_UPLOADED_ROWS) throw new Error(texts.resultLarge(result.title, MAX_UPLOADED_ROWS));
        return { [this.#uploadName]: await result.table.writeText({ format: 'votable', rows: 'shown' }) };
    }

    /** Choose an open result. */
    async chooseResult(result: OpenTable): Promise<void> {
        const { fields } = result.table;
        this.#clear({ result, table: `TAP_UPLOAD.${tableNameOfFile(result.title, takenNames())}`, loading: true });
        const subquery = await subqueryOf(result);
        if (this.result !== result) return;
        if (subquery) this.table = subquery;
        [this.columns, this.loading] = [fields, false];
        this.position = guessPosition(fields);
        this.chooseFew();
    }

    #clear(part: Partial<Pick<MatchSide, 'table' | 'result' | 'loading'>>): void {
        const nothing = { columns: [], position: undefined, chosen: [], errors: '', moving: false, failed: '' };
        Object.assign(this, { ...nothing, result: undefined, ...part });
    }

    /** Choose a table and load its columns. Never raises; `failed` holds the reason. */
    async chooseTable(table: string): Promise<void> {
        if (table === this.table && this.columns.length > 0) {
            this.position = this.file?.position ?? this.position;
            return;
        }
        this.#clear({ table, loading: table !== '' });
        try {
            const columns = table ? await loadCandidates(table) : [];
            if (this.table !== table) return;
            this.columns = columns;
            this.position = this.file?.position ?? guessPosition(columns);
            this.chooseFew();
        } catch (error) {
            if (this.table !== table) return;
            this.failed = (error as Error).message;
        }
        this.loading = false;
    }

    /** Set the position columns; for a file, in other queries too. */
    setPosition(position: Position | undefined): void {
        this.position = position;
        const { file } = this;
        if (!file) return;
        file.position = position;
        void files.keepFile(file);
    }

    /** Choose the most useful columns: identifier, position, magnitudes; all of a small file. */
    chooseFew(): void {
        const isOwn = this.file !== undefined || this.result !== undefined;
        const all = isOwn && this.columns.length <= MAX_WHOLE;
        this.chosen = all ? this.columns.map(({ name }) => name) : firstColumns(this.columns, this.position);
    }

    toggleColumn(column: string): void {
        const { chosen } = this;
        this.chosen = chosen.includes(column) ? chosen.filter((name) => name !== column) : [...chosen, column];
    }

    /** Columns that may be position errors. */
    readonly errorColumns: readonly CandidateColumn[] = $derived(
        this.columns.filter(
            ({ kind, unit = '' }) => kind === 'number' && (unit === '' || perArcsec(unit ?? '') !== undefined),
        ),
    );

    /** The proper motions, if the table has them and ICRS positions. */
    readonly motions: { ra: CandidateColumn; dec: CandidateColumn } | undefined = $derived.by(() => {
        const { position, columns } = this;
        if (position?.frame !== 'ICRS') return;
        const [ra, dec] = [findMotionColumn(columns, 'ra'), findMotionColumn(columns, 'dec')];
        return ra && dec && ra.unit === dec.unit ? { ra, dec } : undefined;
    });

    get motion(): Motion | undefined {
        if (!this.moving || !this.motions) return undefined;
        const { ra, dec } = this.motions;
        return {
            ra: ra.name,
            dec: dec.name,
            mas: masPerYear(ra.unit ?? '') ?? 1,
            from: this.from ?? 0,
            to: this.to ?? 0,
        };
    }

    get errorColumn(): PositionErrors | undefined {
        const column = this.columns.find(({ name }) => name === this.errors);
        return column && { column: column.name, perArcsec: perArcsec(column.unit ?? '') ?? 1 };
    }

    /** The input of the query; undefined without a position. */
    get side(): MatchTable | undefined {
        if (!this.table || !this.position) return undefined;
        const all = this.columns.map(({ name }) => name);
        return {
            table: this.table,
            position: this.position,
            columns: all.filter((name) => this.chosen.includes(name)),
            all,
            motion: this.motion,
            errors: this.errorColumn,
            id: findIdColumn(this.columns)?.name,
        };
    }
}

/** Whether two names mean the same table. */
export const isSameTable = (one: string, other: string): boolean => one !== '' && areSameNames(one, other);

const takenNames = (): string[] => files.list.map(({ name }) => name);
