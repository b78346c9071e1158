/** One table of a match: a file or a stored table, with its choices. */

import { catalogue } from '../tap/tableCatalogue.svelte';
import { areSameNames, unquoteName } from '../adql/adqlNames';
import { files, type UserFile } from '../uploads/userFiles.svelte';
import { kindOf } from '../model/fieldKind';
import { guessPosition, type CandidateColumn, type Position } from '../uploads/positionGuess';
import { firstColumns, findIdColumn, findMotionColumn } from './columnRoles';
import { masPerYear, perArcsec, type PositionErrors, type Motion, type MatchTable } from './matchQuery';

const UPLOAD = /^TAP_UPLOAD\./i;
/** A file with at most this many columns is chosen whole. */
const MAX_WHOLE = 8;

export class MatchSide {
    /** as ADQL writes it; '' if none is chosen */
    table = $state('');
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

    /** Whether the table still exists: files may have been removed or renamed. */
    get isThere(): boolean {
        return this.table !== '' && (!this.isFile || this.file !== undefined);
    }

    get isFile(): boolean {
        return UPLOAD.test(this.table);
    }

    get file(): UserFile | undefined {
        return this.isFile ? files.findFile(this.table.replace(UPLOAD, '')) : undefined;
    }

    /** Choose a table and load its columns. Never raises; `failed` holds the reason. */
    async chooseTable(table: string): Promise<void> {
        if (table === this.table && this.columns.length > 0) {
            this.position = this.file?.position ?? this.position;
            return;
        }
        Object.assign(this, { table, columns: [], position: undefined, chosen: [], errors: '', moving: false });
        [this.failed, this.loading] = ['', table !== ''];
        try {
            const columns = table ? await columnsOf(table) : [];
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
        const all = this.isFile && this.columns.length <= MAX_WHOLE;
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

async function columnsOf(table: string): Promise<readonly CandidateColumn[]> {
    if (UPLOAD.test(table)) {
        await files.restored;
        return files.findFile(table.replace(UPLOAD, ''))?.columns ?? [];
    }
    const columns = await catalogue.loadColumns(table);
    return columns.map(({ name, datatype, arraysize, xtype, unit, ucd, description }) => ({
        name: unquoteName(name),
        kind: kindOf(datatype, arraysize, xtype),
        unit,
        ucd,
        description,
    }));
}

/** Whether two names mean the same table. */
export const isSameTable = (one: string, other: string): boolean => one !== '' && areSameNames(one, other);
