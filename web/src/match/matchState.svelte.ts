/** The state of the cross-match wizard, and its query. It outlives the page. */

import { text } from '../text';
import { files } from '../uploads/userFiles.svelte';
import { isRadius, matchAdql, outputNames, perArcsec, type Match } from './matchQuery';
import { isSameTable, MatchSide } from './matchSide.svelte';

const texts = text.uploads.wizard;

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

    /** What is still to choose, as a sentence; '' if nothing. */
    readonly missing: string = $derived.by(() => {
        const { left, right } = this;
        if (!left.isThere || !right.isThere) return texts.needTables;
        const unplaced = [left, right].find((side) => !side.position && !side.loading);
        if (unplaced) return unplaced.failed || texts.needPosition(unplaced.table);
        if (left.loading || right.loading) return texts.reading;
        if ([left, right].some((side) => side.moving && !(isEpoch(side.from) && isEpoch(side.to))))
            return texts.needEpochs;
        const bytes = Object.values(this.files).reduce((sum, file) => sum + file.size, 0);
        if (files.most !== undefined && bytes > files.most) return text.uploads.tooLargeTogether(bytes, files.most);
        if (this.by === 'fixed') return isRadius(this.radius ?? NaN) ? '' : texts.needRadius;
        if (!left.errorColumn && !right.errorColumn) return texts.needErrors;
        return (this.times ?? 0) > 0 ? '' : texts.needTimes;
    });

    readonly match: Match | undefined = $derived.by(() => {
        const [left, right] = [this.left.side, this.right.side];
        if (this.missing || !left || !right) return undefined;
        const radius = this.by === 'fixed' ? { arcsec: this.radius ?? NaN } : { times: this.times ?? NaN };
        return { left, right, radius, choice: this.choice, keep: this.keep };
    });

    /** '' while something is missing */
    readonly adql: string = $derived(this.match ? matchAdql(this.match) : '');

    /** What the query does, one sentence each. */
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
    const within = 'arcsec' in radius ? texts.within(radius.arcsec) : texts.withinErrors(radius.times, errors);
    const isSelf = isSameTable(left.table, right.table);
    return [
        texts.what(choice, keep, left.table, right.table, within),
        ...(keep === 'left' ? [texts.keptEmpty] : []),
        ...(keep === 'unmatched' ? [] : [texts.separation(outputNames(left.columns, right.columns).separation)]),
        ...[left, right].flatMap(({ table, motion }) => (motion ? [texts.moved(table, motion.from, motion.to)] : [])),
        ...(isSelf ? [left.id ? texts.self : texts.selfUnknown] : []),
        ...('times' in radius ? sides.flatMap(warnUnknownUnit) : []),
    ];
}

function warnUnknownUnit(side: MatchSide): string[] {
    const column = side.columns.find(({ name }) => name === side.errors);
    return column && perArcsec(column.unit ?? '') === undefined ? [texts.unitUnknown(column.name)] : [];
}

export const wizard = new MatchState();
