/** The page of Aladin Lite: the operator's surveys, and above them the rows of tables in view. */

import { text } from '../text';
import { loadPortalOptions } from '../tap/portalOptions';
import { loadAladin, type AladinCatalogue, type AladinLibrary, type AladinView } from './aladinLite';
import { findTables, loadRowsAround, MAX_ROWS } from './rowsInView';
import type { ObjectTable } from '../object/objectTables';
import './aladin.css';

const texts = text.home.aladin;
/** Milliseconds without movement before rows are asked for. */
const STILL = 400;
/** Colours of the tables, readable above most surveys. */
const COLOURS = ['#ff9e3d', '#5ad1ff', '#ff6ea8', '#a6e22e'];
const message = document.getElementById('message')!;

/** Keep a catalogue filled with the rows of a table in view. */
class TableLayer {
    readonly catalogue: AladinCatalogue;
    note = '';
    #asked = new AbortController();

    constructor(
        readonly table: ObjectTable,
        readonly library: AladinLibrary,
        color: string,
    ) {
        this.catalogue = library.catalog({ name: table.name, color, onClick: 'showTable' });
    }

    /** Show the rows of a circle; `note` says what is missing. Never raises. */
    async showAround(centre: readonly [number, number], radius: number): Promise<void> {
        this.#asked.abort();
        const { signal } = (this.#asked = new AbortController());
        try {
            const { rows, more } = await loadRowsAround(this.table, centre, radius, signal);
            this.catalogue.removeAll();
            this.catalogue.addSources(rows.map(({ ra, dec, row }) => this.library.source(ra, dec, row)));
            this.note = more ? texts.more(this.table.name, MAX_ROWS) : '';
        } catch (error) {
            if (!signal.aborted) this.note = (error as Error).message;
        }
    }
}

async function showSky(): Promise<void> {
    const asked = new URLSearchParams(location.hash.slice(1));
    const [library, options] = await Promise.all([loadAladin(), loadPortalOptions()]);
    // it adds a slash
    const surveys = options.surveys.map((address) => address.replace(/\/$/, ''));
    const view = library.aladin('#sky', {
        ...(surveys.length > 0 && { survey: surveys, hipsList: surveys }),
        target: `${Number(asked.get('ra') ?? 0)} ${Number(asked.get('dec') ?? 0)}`,
        fov: Math.min(180, Number(asked.get('fov') ?? 60)),
        // these ask hosts that the operator has not named
        ...{ showGotoControl: false, showSimbadPointerControl: false, showContextMenu: false, log: false },
        showCooGridControl: true,
    });
    const tables = await findTables(asked.getAll('table'));
    const layers = tables.map((table, at) => new TableLayer(table, library, COLOURS[at % COLOURS.length]!));
    for (const { catalogue } of layers) view.addCatalog(catalogue);
    await followView(view, layers);
}

async function followView(view: AladinView, layers: readonly TableLayer[]): Promise<void> {
    const show = async (): Promise<void> => {
        const radius = Math.min(180, Math.hypot(...view.getFov()) / 2);
        await Promise.all(layers.map((layer) => layer.showAround(view.getRaDec(), radius)));
        message.textContent = layers
            .map(({ note }) => note)
            .filter(Boolean)
            .join(' ');
    };
    let timer: ReturnType<typeof setTimeout> | undefined;
    const settle = (): void => {
        clearTimeout(timer);
        timer = setTimeout(() => void show(), STILL);
    };
    view.on('positionChanged', settle);
    view.on('zoomChanged', settle);
    await show();
}

showSky().catch((error: unknown) => {
    message.textContent = texts.failed(error instanceof Error ? error.message : String(error));
});
