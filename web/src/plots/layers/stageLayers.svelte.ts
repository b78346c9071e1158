/** The layers of a plot on the screen: computed once view and chosen rows rest, drawn above the points. */

import { canvasPen } from '../../canvas/pen';
import { prepareCanvas } from '../../canvas/pixelCanvas';
import type { LayerSummary } from './layer';
import { hasSummary, summarizeLayers } from './layerSummary';
import { hasLayers, paintSummary } from './layerTable';
import type { Scene } from '../points/plotScene';

/** Milliseconds without a change before layers are computed again. */
const STILL = 160;

export class StageLayers {
    /** what the layers told last */
    summary = $state.raw<LayerSummary | undefined>();
    #timer: ReturnType<typeof setTimeout> | undefined;

    /** Compute the layers, soon: view and chosen rows may still change. */
    summarizeSoon(scene: Scene | undefined, chosen: Uint8Array | undefined): void {
        clearTimeout(this.#timer);
        if (!scene) return;
        const { settings } = scene.data;
        if (!hasSummary(settings)) return void (this.summary = undefined);
        const wait = this.summary?.settings === settings ? STILL : 0;
        this.#timer = setTimeout(() => (this.summary = summarizeLayers(scene, chosen)), wait);
    }

    /** Stop pending computations. */
    stop(): void {
        clearTimeout(this.#timer);
    }

    /** Draw the layers, where they were computed also while the view moves. */
    draw(canvas: HTMLCanvasElement, scene: Scene | undefined): void {
        const { summary } = this;
        if (!scene || !hasLayers(scene.data.settings)) return void prepareCanvas(canvas, 1, 1, 1);
        const context = prepareCanvas(canvas, scene.size.width, scene.size.height, scene.ratio);
        paintSummary(canvasPen(context, scene.theme.font), scene, summary);
        // tests read the drawn layers
        canvas.dataset['drawn'] = JSON.stringify({
            contours: summary?.contours.length ?? 0,
            bins: summary?.binned.length ?? 0,
            fit: summary?.fit,
        });
    }
}
