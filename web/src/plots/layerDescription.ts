/** The layers of a plot in words. */

import type { Field } from '../model/resultModel';
import { text } from '../text';
import { describeFit } from './fitText';
import type { LayerSummary } from './layerSummary';
import { hasMarginals } from './offeredLayers';
import { connectionOf } from './paintConnected';
import type { PlotData } from './plotData';
import { describePlot } from './plotDescription';
import type { Scene } from './plotScene';
import { isSamePlane } from './plotSettings';

const texts = text.plots.layers;

/** Describe a plot with its note and its layers. */
export function describeScene(
    { data, fields, view, note }: Scene,
    chosen: number,
    summary: LayerSummary | undefined,
): string {
    const notes = [note, ...describeLayers(data, fields, summary)].filter(Boolean);
    return describePlot(data, fields, view, chosen, notes);
}

/** Describe the layers of a plot, each by itself. */
export function describeLayers(
    { settings, layers, shades, ...data }: PlotData,
    fields: readonly Field[],
    summary: LayerSummary | undefined,
): string[] {
    const words: string[] = [];
    const errors = [layers.xErrors, layers.yErrors].flatMap((axis) => axis?.columns.map(({ name }) => name) ?? []);
    if (errors.length > 0) words.push(texts.description.errors(errors.join(', ')));
    if (connectionOf({ settings, layers, shades, ...data }) === 'lines')
        words.push(texts.description.connected(shades?.type === 'kinds'));
    if (hasMarginals(settings)) words.push(texts.description.marginals);
    if (summary && isSamePlane(summary.settings, settings)) words.push(...describeSummary(fields, summary));
    for (const { overlay, points } of layers.overlays)
        if (points) words.push(texts.description.overlay(overlay.title, points.count));
    return words;
}

function describeSummary(fields: readonly Field[], summary: LayerSummary): string[] {
    const { contours, binned, basis, settings } = summary;
    const { statistic, contours: levels } = settings.layers;
    const words: string[] = [];
    if (contours.length > 0 && levels !== 'none') words.push(texts.description.contours[levels]);
    if (binned.length > 0 && statistic !== 'none')
        words.push(texts.description.binned(texts.statistics[statistic], binned.length, texts.basis[basis]));
    const fit = describeFit(fields, summary);
    if (fit) words.push(fit.equation ? texts.description.fit(fit.equation, fit.of) : fit.of);
    return words;
}

/** Describe layers that could not be shown, and why. */
export function describeMissingLayers(data: PlotData): string[] {
    const words: string[] = [];
    if (connectionOf(data) === 'too many') words.push(texts.tooMany);
    for (const { overlay, trouble } of data.layers.overlays)
        if (trouble) words.push(texts.trouble[trouble](overlay.title));
    return words;
}
