/** The state of the cross-match wizard, and its query. It outlives the page. */

import type { KeptMatch } from '../tap/keptMatches';
import { text } from '../text';
import { files } from '../uploads/userFiles.svelte';
import { findKeptPairs, listKeptChoices, listKeptKeeps } from './keptPairs';
import { isRadius, matchAdql, outputNames, perArcsec, type KeptPairs, type Match, type MatchTable } from './matchQuery';
import { isSameTable, MatchSide } from './matchSide.svelte';
import type { CheckedUpload } from './queryCheck';

const texts = text.uploads.wizard;

class MatchState {
    left = $state(new MatchSide());
    right = $state(new MatchSide());
    /** the service's */
    keptMatches = $state.raw<readonly KeptMatch[]>([]);
    /** arcsec */
    radius = $state<number | null>(2);
    times = $state<number | null>(3);
    /** 'fixed', 'errors', or the name of a kept match, which may belong to other tables */
    #by = $state('fixed');
    #choice = $state<Match['choice']>('nearest');
    #keep = $state<Match['keep']>('matched');

    /** The kept matches that have pairs of these tables. */
    readonly offered: readonly KeptPairs[] = $derived(
        findKeptPairs(this.keptMatches, this.left.table, this.right.table).filter(
            (pairs) => listKeptChoices(pairs).length > 0,
        ),
    );

    /** The one that is read. */
    readonly kept: KeptPairs | undefined = $derived(this.offered.find(({ match }) => match.table === this.#by));

    /** How pairs are found: 'fixed', 'errors', or the name of a kept match. */
    get by(): string {
        return this.kept || this.#by === 'errors' ? this.#by : 'fixed';
    }

    set by(by: string) {
        this.#by = by;
        if (this.kept && !((this.radius ?? 0) > 0 && this.radius! <= this.kept.match.radius))
            this.radius = this.kept.match.radius;
    }

    readonly choices: readonly Match['choice'][] = $derived(
        this.kept ? listKeptChoices(this.kept) : ['nearest', 'mutual', 'all'],
    );

    readonly keeps: readonly Match['keep'][] = $derived(
        this.kept ? listKeptKeeps(this.kept) : ['matched', 'left', 'unmatched'],
    );

    get choice(): Match['choice'] {
        return this.choices.includes(this.#choice) ? this.#choice : this.choices[0]!;
    }

    set choice(choice: Match['choice']) {
        this.#choice = choice;
    }

    get keep(): Match['keep'] {
        return this.keeps.includes(this.#keep) ? this.#keep : 'matched';
    }

    set keep(keep: Match['keep']) {
        this.#keep = keep;
    }

    swapSides(): void {
        [this.left, this.right] = [this.right, this.left];
    }

    /** The missing choice, as a sentence; '' if the match is complete. */
    readonly missing: string = $derived.by(() => {
        const { left, right } = this;
        if (!left.isThere || !right.isThere) return texts.needTables;
        const unplaced = [left, right].find((side) => !side.position && !side.loading);
        if (unplaced) return unplaced.failed || texts.needPosition(unplaced.title);
        if (left.loading || right.loading) return texts.reading;
        if (!this.kept && [left, right].some((side) => side.moving && !(isEpoch(side.from) && isEpoch(side.to))))
            return texts.needEpochs;
        const bytes = this.uploads.reduce((sum, { blob }) => sum + (blob?.size ?? 0), 0);
        if (files.most !== undefined && bytes > files.most) return text.uploads.tooLargeTogether(bytes, files.most);
        if (this.kept) {
            const { radius } = this.kept.match;
            return (this.radius ?? 0) > 0 && this.radius! <= radius ? '' : texts.needKeptRadius(radius);
        }
        if (this.by === 'fixed') return isRadius(this.radius ?? NaN) ? '' : texts.needRadius;
        if (!left.errorColumn && !right.errorColumn) return texts.needErrors;
        return (this.times ?? 0) > 0 ? '' : texts.needTimes;
    });

    readonly match: Match | undefined = $derived.by(() => {
        const [left, right] = [this.left.side, this.right.side];
        if (this.missing || !left || !right) return undefined;
        const radius = this.by === 'errors' ? { times: this.times ?? NaN } : { arcsec: this.radius ?? NaN };
        const { choice, keep, kept } = this;
        if (!kept) return { left, right, radius, choice, keep };
        const [first, second] = [left, right].map((side) => ({ ...side, motion: undefined })) as [
            MatchTable,
            MatchTable,
        ];
        return { left: first, right: second, radius, choice, keep, kept };
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
    const { left, right, radius, choice, keep, kept } = match;
    const titled = [left, right].map((table, at) => ({ ...table, title: sides[at]!.title }));
    const errors = titled.flatMap(({ title, errors }) => (errors ? [`${title}.${errors.column}`] : []));
    const within = 'arcsec' in radius ? texts.within(radius.arcsec) : texts.withinErrors(radius.times, errors);
    const isSelf = isSameTable(left.table, right.table);
    return [
        texts.what(choice, keep, sides[0].title, sides[1].title, within),
        ...(kept ? [texts.readsKept(kept.match.table, kept.match.left.epoch !== null)] : []),
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
