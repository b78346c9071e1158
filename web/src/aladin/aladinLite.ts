/** What this page uses of Aladin Lite, a separate program that the operator has installed. */

export interface AladinLibrary {
    readonly init: Promise<void>;
    aladin(selector: string, options: Readonly<Record<string, unknown>>): AladinView;
    catalog(options: { readonly name: string; readonly color: string; readonly onClick: 'showTable' }): AladinCatalogue;
    source(ra: number, dec: number, row: Readonly<Record<string, unknown>>): unknown;
}

export interface AladinView {
    addCatalog(catalogue: AladinCatalogue): void;
    getRaDec(): [number, number];
    getFov(): [number, number];
    on(event: 'positionChanged' | 'zoomChanged', act: () => void): void;
}

export interface AladinCatalogue {
    addSources(sources: readonly unknown[]): void;
    removeAll(): void;
}

/** Load the operator's copy. Raises an Error if the browser cannot run it. */
export async function loadAladin(): Promise<AladinLibrary> {
    const address = new URL('aladin.js', document.baseURI).href;
    const { default: library } = (await import(/* @vite-ignore */ address)) as { default: AladinLibrary };
    await library.init;
    return library;
}
