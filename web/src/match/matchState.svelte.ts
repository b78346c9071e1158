/** What the cross-match wizard was told, the query that follows, and what is missing for one. It outlives the page. */

import { text } from '../text';
import { files } from '../uploads/userFiles.svelte';
import { isRadius, matchAdql, outputNames, perArcsec, type Match } from './matchQuery';
import { isSameTable, MatchSide } from './matchSide.svelte';

const said = text.uploads.wizard;

class MatchState {
    left = $state(new MatchSide());
    right = $state(new MatchSide());
    by = $state<'fixed' | 'errors'>('fixed');
    /** arcsec */
    radius = $state<number | null>(2);
    times = $state<number | null>(3);
    choice = $state<Match['choice']>('nearest');
    keep = $state<Match['keep']>('matched');

    swapSides(): void {
        [this.left, this.right] = [this.right, this.left];
    }

    /** What has to be chosen yet, in a sentence; '' if nothing. */
    readonly missing: string = $derived.by(() => {
        const { left, right } = this;
        if (!left.isThere || !right.isThere) return said.needTables;
        const unplaced = [left, right].find((side) => !side.position && !side.loading);
        if (unplaced) return unplaced.failed || said.needPosition(unplaced.table);
        if (left.loading || right.loading) return said.reading;
        if ([left, right].some((side) => side.moving && !(isEpoch(side.from) && isEpoch(side.to))))
            return said.needEpochs;
        const bytes = Object.values(this.files).reduce((sum, file) => sum + file.size, 0);
        if (files.most !== undefined && bytes > files.most) return text.uploads.tooLargeTogether(bytes, files.most);
        if (this.by === 'fixed') return isRadius(this.radius ?? NaN) ? '' : said.needRadius;
        if (!left.errorColumn && !right.errorColumn) return said.needErrors;
        return (this.times ?? 0) > 0 ? '' : said.needTimes;
    });

    readonly match: Match | undefined = $derived.by(() => {
        const [left, right] = [this.left.side, this.right.side];
        if (this.missing || !left || !right) return undefined;
        const radius = this.by === 'fixed' ? { arcsec: this.radius ?? NaN } : { times: this.times ?? NaN };
        return { left, right, radius, choice: this.choice, keep: this.keep };
    });

    /** '' while something is missing */
    readonly adql: string = $derived(this.match ? matchAdql(this.match) : '');

    /** What the query does, sentence by sentence. */
    readonly explained: readonly string[] = $derived(
        this.match ? explainMatch(this.match, [this.left, this.right]) : [],
    );

    /** The files that the query uploads. */
    get files(): Record<string, Blob> {
        return files.blobsOf([this.left, this.right].flatMap(({ file }) => (file ? [file.name] : [])));
    }

    get title(): string {
        const short = (table: string) => table.replace(/^TAP_UPLOAD\./i, '');
        return `${short(this.left.table)} × ${short(this.right.table)}`;
    }
}

const isEpoch = (year: number | null): boolean => year !== null && year >= 1000 && year <= 3000;

function explainMatch(match: Match, sides: readonly MatchSide[]): string[] {
    const { left, right, radius, choice, keep } = match;
    const errors = [left, right].flatMap(({ table, errors }) => (errors ? [`${table}.${errors.column}`] : []));
    const within = 'arcsec' in radius ? said.within(radius.arcsec) : said.withinErrors(radius.times, errors);
    const isSelf = isSameTable(left.table, right.table);
    return [
        said.what(choice, keep, left.table, right.table, within),
        ...(keep === 'left' ? [said.keptEmpty] : []),
        ...(keep === 'unmatched' ? [] : [said.separation(outputNames(left.columns, right.columns).separation)]),
        ...[left, right].flatMap(({ table, motion }) => (motion ? [said.moved(table, motion.from, motion.to)] : [])),
        ...(isSelf ? [left.id ? said.self : said.selfUnknown] : []),
        ...('times' in radius ? sides.flatMap(warnUnknownUnit) : []),
    ];
}

function warnUnknownUnit(side: MatchSide): string[] {
    const column = side.columns.find(({ name }) => name === side.errors);
    return column && perArcsec(column.unit ?? '') === undefined ? [said.unitUnknown(column.name)] : [];
}

export const wizard = new MatchState();
