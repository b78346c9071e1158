/** What of a result's layout leaves the browser, with links and shares. */

interface KeptPlots {
    readonly plots?: readonly { readonly settings?: { readonly layers?: { readonly overlays?: unknown } } }[];
}

/** Return a layout, as JSON, without overlays: they are of other results, which are only here, and have their titles. */
export function publicLayout(layout: string): string {
    if (!layout.includes('"overlays"')) return layout;
    const kept = JSON.parse(layout) as KeptPlots;
    const plots = kept.plots?.map((plot) => {
        if (!plot.settings?.layers) return plot;
        const layers = Object.entries(plot.settings.layers).filter(([key]) => key !== 'overlays');
        return { ...plot, settings: { ...plot.settings, layers: Object.fromEntries(layers) } };
    });
    return JSON.stringify({ ...kept, ...(plots && { plots }) });
}
