/** The points of other results over a plot. */

import { KIND_COUNT, pixelToCss } from '../../canvas/colourRamps';
import type { Pen } from '../../canvas/pen';
import { xOnScreen, yOnScreen } from '../../canvas/plotView';
import { openTables } from '../../model/openTables.svelte';
import { plotTexts } from '../../text/plotTexts';
import type { NamedQuantity, Overlay } from '../points/layerSettings';
import { paintPoints } from '../points/paintPoints';
import type { Scene } from '../points/plotScene';
import type { Layer } from './layer';
import { loadOverlays } from './overlayData';
import OverlayOptions from './OverlayOptions.svelte';

const texts = plotTexts.layers;
const MAX_OVERLAYS = 8;

export const overlays: Layer = {
    title: texts.overlays,
    kinds: ['scatter', 'density', 'histogram', 'sky', 'curve'],
    isOn: (layers) => layers.overlays.length > 0,
    kept: { usual: { overlays: [] }, readers: { overlays: readOverlays } },
    load: async ({ table, settings, alignment }) => ({
        overlays: await loadOverlays(table.fields, settings, alignment),
        title: openTables.list.find((opened) => opened.table === table)?.title ?? '',
    }),
    extents: ({ layers }) => layers.overlays.flatMap(({ points }) => (points?.count ? [points.extent] : [])),
    countBins: ({ layers }, count) =>
        layers.overlays.map(({ points }) => (points ? count(points) : new Float64Array())),
    paint: { over: paintOverlays, words: drawOverlayNames },
    describe: ({ layers }) =>
        layers.overlays.flatMap(({ overlay, points }) =>
            points ? [texts.description.overlay(overlay.title, points.count)] : [],
        ),
    explain: ({ layers }) =>
        layers.overlays.flatMap(({ overlay, problem }) => (problem ? [texts.problems[problem](overlay.title)] : [])),
    Options: OverlayOptions,
};

/** Return the overlays of kept settings; invalid entries are left out. */
function readOverlays(kept: unknown): Overlay[] {
    const items = Array.isArray(kept) ? kept.slice(0, MAX_OVERLAYS) : [];
    return items.flatMap((item: Partial<Overlay> | null) =>
        typeof item?.table === 'string' && typeof item.title === 'string'
            ? [{ table: item.table, title: item.title, axes: readAxes(item.axes) }]
            : [],
    );
}

function readAxes(kept: unknown): Overlay['axes'] {
    const entries = Object.entries(kept ?? {}).flatMap(([role, quantity]: [string, Partial<NamedQuantity> | null]) =>
        typeof quantity?.column === 'string' && typeof quantity.minus === 'string'
            ? [[role, { column: quantity.column, minus: quantity.minus }] as const]
            : [],
    );
    return Object.fromEntries(entries);
}

/** Kinds whose colours differ most from the colour of points and of chosen ones, best first. */
const DISTINCT = [4, 2, 7, 6, 5, 1];

/** Return the colour of each overlay, other than the colours of the plot's own kinds where there are enough. */
function coloursOf({ data, theme }: Scene): number[] {
    const { shades, layers } = data;
    const taken = shades?.type === 'kinds' ? Math.min(shades.names.length, KIND_COUNT - 1) : 0;
    const free = DISTINCT.filter((kind) => kind >= taken);
    const usable = free.length > 0 ? free : DISTINCT;
    return layers.overlays.map((_, at) => theme.kinds[usable[at % usable.length]!]!);
}

const scenes = new WeakMap<Scene, readonly (Scene | undefined)[]>();

/** Return a scene for each overlay: the same view with other points. The painted picture is kept with each scene. */
function scenesOf(scene: Scene): readonly (Scene | undefined)[] {
    const known = scenes.get(scene);
    if (known) return known;
    const colours = coloursOf(scene);
    const made = scene.data.layers.overlays.map(({ points }, at) => {
        if (!points) return undefined;
        const theme = { ...scene.theme, accent: pixelToCss(colours[at]!) };
        return { ...scene, theme, data: { ...scene.data, points, shades: undefined } };
    });
    scenes.set(scene, made);
    return made;
}

function paintOverlays(pen: Pen, scene: Scene, faint: boolean): void {
    if (scene.histogram) return paintOutlines(pen, scene);
    for (const overlay of scenesOf(scene)) if (overlay) paintPoints(pen, overlay, faint);
}

/** Paint the outlines of the overlays' bins over a histogram. */
function paintOutlines(pen: Pen, scene: Scene): void {
    const { histogram, view, box, data } = scene;
    const colours = coloursOf(scene);
    const height = (count: number) =>
        yOnScreen(view, box, data.settings.logCounts ? Math.log10(Math.max(count, 0.1)) : count);
    pen.within(box, () =>
        histogram!.others.forEach((counts, at) => {
            const path: number[] = [];
            counts.forEach((count, bin) => {
                const ends = [bin, bin + 1].map((edge) =>
                    xOnScreen(view, box, histogram!.start + edge * histogram!.width),
                );
                path.push(ends[0]!, height(count), ends[1]!, height(count));
            });
            if (path.length > 0) pen.line(path, pixelToCss(colours[at]!), 2);
        }),
    );
}

const SIZE = 12;

/** Name the overlays and the plot's own rows with their colours, in the lower corner on the right. */
function drawOverlayNames(pen: Pen, scene: Scene): void {
    const { box, theme } = scene;
    const { layers, shades } = scene.data;
    const colours = coloursOf(scene).map(pixelToCss);
    const others = layers.overlays.flatMap(({ overlay, points }, at) =>
        points ? [{ title: overlay.title, colour: colours[at]! }] : [],
    );
    if (others.length === 0) return;
    const own = layers.title && !shades ? [{ title: layers.title, colour: theme.accent }] : [];
    const shown = [...own, ...others];
    const right = box.left + box.width - 8;
    shown.forEach(({ title, colour }, k) => {
        const y = box.top + box.height - 14 - 18 * (shown.length - 1 - k);
        let kept = title;
        while (kept.length > 1 && pen.measure(kept, SIZE) > box.width / 2) kept = kept.slice(0, -1);
        const name = kept === title ? title : `${kept.slice(0, -1)}…`;
        pen.text(name, right - 15, y, { colour: theme.text, halo: theme.ground, align: 'right', size: SIZE });
        pen.fill(right - 10, y - 5, 10, 10, colour);
    });
}
