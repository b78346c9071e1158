/** The state of the cross-match wizard, and its query. It outlives the page. */

import { text } from '../text';
import { files } from '../uploads/userFiles.svelte';
import { isRadius, matchAdql, outputNames, perArcsec, type Match } from './matchQuery';
import { isSameTable, MatchSide } from './matchSide.svelte';
import type { CheckedUpload } from './queryCheck';

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
        if (unplaced) return unplaced.failed || texts.needPosition(unplaced.title);
        if (left.loading || right.loading) return texts.reading;
        if ([left, right].some((side) => side.moving && !(isEpoch(side.from) && isEpoch(side.to))))
            return texts.needEpochs;
        const bytes = this.uploads.reduce((sum, { blob }) => sum + (blob?.size ?? 0), 0);
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

    /** What the query uploads. */
    get uploads(): readonly CheckedUpload[] {
        const all = [this.left, this.right].flatMap((side) => side.uploads);
        return all.filter(({ name }, at) => all.findIndex((other) => other.name === name) === at);
    }

    /** Return the files that the query uploads. Raises Error with a sentence. */
    async writeFiles(): Promise<Record<string, Blob>> {
        return { ...(await this.left.writeFiles()), ...(await this.right.writeFiles()) };
    }

    get title(): string {
        const short = (title: string) => title.replace(/^TAP_UPLOAD\./i, '');
        return `${short(this.left.title)} × ${short(this.right.title)}`;
    }
}

const isEpoch = (year: number | null): boolean => year !== null && year >= 1000 && year <= 3000;

function explainMatch(match: Match, sides: readonly [MatchSide, MatchSide]): string[] {
    const { left, right, radius, choice, keep } = match;
    const titled = [left, right].map((table, at) => ({ ...table, title: sides[at]!.title }));
    const errors = titled.flatMap(({ title, errors }) => (errors ? [`${title}.${errors.column}`] : []));
    const within = 'arcsec' in radius ? texts.within(radius.arcsec) : texts.withinErrors(radius.times, errors);
    const isSelf = isSameTable(left.table, right.table);
    return [
        texts.what(choice, keep, sides[0].title, sides[1].title, within),
        ...(keep === 'left' ? [texts.keptEmpty] : []),
        ...(keep === 'unmatched' ? [] : [texts.separation(outputNames(left.columns, right.columns).separation)]),
        ...titled.flatMap(({ title, motion }) => (motion ? [texts.moved(title, motion.from, motion.to)] : [])),
        ...sides.flatMap(({ title, how }) => (how ? [`${title}: ${how}`] : [])),
        ...(isSelf ? [left.id ? texts.self : texts.selfUnknown] : []),
        ...('times' in radius ? sides.flatMap(warnUnknownUnit) : []),
    ];
}

function warnUnknownUnit(side: MatchSide): string[] {
    const column = side.columns.find(({ name }) => name === side.errors);
    return column && perArcsec(column.unit ?? '') === undefined ? [texts.unitUnknown(column.name)] : [];
}

export const wizard = new MatchState();
