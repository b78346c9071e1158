/** What the home page shows: tables with their densities, the region with its counts, names and single rows in view. */

import { RequestSlots } from '../browser/requestSlots';
import { readStored, writeStored } from '../browser/storedValues';
import { catalogue } from '../tap/tableCatalogue.svelte';
import { queryRows, toNumber } from '../tap/jsonRows';
import { listBrightNames } from '../tap/nameClient';
import { loadPortalOptions } from '../tap/portalOptions';
import { loadObjectTables } from '../object/objectTables';
import type { TurnedSky } from '../sky/turnedSky';
import { DensityLayer } from './densityLayer.svelte';
import { countInView, tilesInView, type MapMark } from './paintSkyMap';
import { regionCondition, type SkyRegion } from './skyRegion';
import { SkySurvey } from './skySurvey.svelte';

/** Rows that are drawn by themselves. */
const MAX_MARKS = 3000;
/** Degrees in a pixel from which on rows are drawn by themselves. */
const NEAR = 0.05;
const MAX_NAMES = 40;
/** Requests at a time. */
const AT_ONCE = 3;

export interface RegionCount {
    readonly layer: DensityLayer;
    /** undefined until it is known */
    readonly rows?: number;
    readonly failed?: string;
}

export class HomeState {
    layers = $state.raw<readonly DensityLayer[]>([]);
    failed = $state('');
    loaded = $state(false);
    marks = $state.raw<readonly MapMark[]>([]);
    names = $state.raw<readonly MapMark[]>([]);
    region = $state.raw<SkyRegion | undefined>();
    counts = $state.raw<readonly RegionCount[]>([]);
    /** backgrounds that the operator allows, and the one that is shown */
    surveys = $state.raw<readonly SkySurvey[]>([]);
    survey = $state.raw<SkySurvey | undefined>();
    hasAladin = $state(false);
    readonly #slots = new RequestSlots(AT_ONCE);
    #viewing = new AbortController();
    #counting = new AbortController();

    readonly shown = $derived(this.layers.filter((layer) => layer.visible));

    /** Load the tables with positions, and their densities. Never raises. */
    async load(): Promise<void> {
        void this.#loadOptions();
        try {
            const tables = await loadObjectTables();
            this.layers = tables.flatMap(({ name, position }, number) =>
                position ? [new DensityLayer(name, position, number)] : [],
            );
        } catch (error) {
            this.failed = catalogue.failed || (error as Error).message;
            return;
        }
        await this.#forEachLayer(this.layers, (layer) => layer.load());
        // the largest table is shown at first: it covers most of the sky
        const [largest] = this.layers.toSorted((one, other) => other.rows - one.rows);
        if (largest && !this.layers.some((layer) => layer.visible)) largest.visible = true;
        this.loaded = true;
    }

    async #loadOptions(): Promise<void> {
        // without the operator's options there is a map without a background
        const options = await loadPortalOptions().catch(() => ({ surveys: [], aladinLite: false }));
        const { surveys } = options;
        this.hasAladin = options.aladinLite;
        this.surveys = surveys.map((address) => new SkySurvey(address));
        const before = readStored('survey', '');
        this.survey = this.surveys.find(({ address }) => address === before);
        // the list has their titles
        for (const survey of this.surveys) void survey.load();
    }

    /** Show a background, or none. */
    chooseSurvey(survey: SkySurvey | undefined): void {
        this.survey = survey;
        void survey?.load();
        writeStored('survey', survey?.address);
    }

    #forEachLayer(layers: readonly DensityLayer[], work: (layer: DensityLayer) => Promise<void>): Promise<unknown> {
        return Promise.all(layers.map((layer) => this.#slots.runInSlot(() => work(layer))));
    }

    /** Load what a view needs beyond the stored densities: finer cells, single rows, names. Never raises. */
    async loadView(sky: TurnedSky): Promise<void> {
        this.#viewing.abort();
        const { signal } = (this.#viewing = new AbortController());
        const { shown } = this;
        void this.#loadNames(sky, signal);
        void this.survey?.loadView(sky, signal);
        const near = sky.view.degrees < NEAR;
        const few = shown.filter((layer) => layer.rows <= MAX_MARKS || (near && countInView(sky, layer) <= MAX_MARKS));
        const marks: MapMark[] = [];
        await this.#forEachLayer(shown, async (layer) => {
            if (signal.aborted) return;
            if (few.includes(layer)) return void marks.push(...(await loadMarks(sky, layer, signal)));
            const { order, tiles } = tilesInView(sky, layer);
            await layer.loadTiles(order, tiles, signal);
        });
        if (!signal.aborted) this.marks = marks;
    }

    async #loadNames(sky: TurnedSky, signal: AbortSignal): Promise<void> {
        const [position, radius] = [sky.directionAt(sky.view.width / 2, sky.view.height / 2), radiusOf(sky)];
        if (!position) return;
        try {
            const found = await listBrightNames(position, radius, signal);
            this.names = found.slice(0, MAX_NAMES).map(({ ra, dec, name, magnitude }) => ({
                ...{ ra, dec, name, layer: -1 },
                magnitude: magnitude ?? NaN,
            }));
        } catch {
            // a map without names is a map
        }
    }

    /** Count the rows of all tables in a region, exactly. Never raises. */
    async countRegion(region: SkyRegion | undefined): Promise<void> {
        this.#counting.abort();
        this.region = region;
        const { signal } = (this.#counting = new AbortController());
        this.counts = region ? this.layers.map((layer) => ({ layer })) : [];
        if (!region) return;
        await this.#forEachLayer(this.layers, async (layer) => {
            if (signal.aborted) return;
            let count: RegionCount;
            try {
                const adql = `SELECT COUNT(*) AS n FROM ${layer.table} WHERE ${regionCondition(region, layer.position)}`;
                const { data } = await queryRows(adql, { signal });
                count = { layer, rows: toNumber(data[0]?.[0]) };
            } catch (error) {
                count = { layer, failed: (error as Error).message };
            }
            if (!signal.aborted) this.counts = this.counts.map((one) => (one.layer === layer ? count : one));
        });
    }

    /** End all requests. */
    close(): void {
        this.#viewing.abort();
        this.#counting.abort();
    }
}

/** Return the radius of a circle around the view, degrees. */
function radiusOf({ view }: TurnedSky): number {
    return Math.min(180, (Math.hypot(view.width, view.height) / 2) * view.degrees);
}

async function loadMarks(sky: TurnedSky, layer: DensityLayer, signal: AbortSignal): Promise<MapMark[]> {
    const middle = sky.directionAt(sky.view.width / 2, sky.view.height / 2);
    if (!middle || signal.aborted) return [];
    const region: SkyRegion = { kind: 'circle', centre: middle, radius: radiusOf(sky) };
    try {
        const columns = await catalogue.loadColumns(layer.table);
        const magnitude = columns.find(({ ucd }) => ucd.toLowerCase().split(';')[0] === 'phot.mag')?.name;
        const { ra, dec } = layer.position;
        const chosen = [ra, dec, ...(magnitude ? [magnitude] : [])].join(', ');
        const order = magnitude ? ` ORDER BY ${magnitude}` : '';
        const query = `SELECT ${chosen} FROM ${layer.table} WHERE ${regionCondition(region, layer.position)}${order}`;
        const { data } = await queryRows(query, { maxrec: MAX_MARKS, signal });
        return data.map((row) => ({
            ...{ ra: toNumber(row[0]), dec: toNumber(row[1]), name: '', layer: layer.number },
            magnitude: toNumber(row[2]),
        }));
    } catch {
        // the cells stay
        return [];
    }
}
