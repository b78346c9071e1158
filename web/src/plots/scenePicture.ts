/** The plot of a stage as a picture that can be saved. */

import { exportCsv } from './plotExport';
import { describeScene } from './layerDescription';
import { summarizeLayers } from './layerSummary';
import { paintScene } from './paintPlot';
import type { PlotPicture } from './plotPicture';
import type { Scene } from './plotScene';
import { countIn } from './scatterPixels';
import { arrangeScene, type TablePlot } from './tablePlot.svelte';
import { planePython } from './planeScripts';

/** Return what can be saved of a scene. */
export function pictureOfScene(scene: Scene, plot: TablePlot): PlotPicture {
    const { data, view, size, theme, ratio } = scene;
    const { settings } = data;
    const { table } = plot;
    const isPoints = settings.kind === 'scatter' || settings.kind === 'curve' || settings.skyStyle === 'points';
    const areShapes = isPoints && settings.kind !== 'histogram' && settings.kind !== 'density';
    return {
        name: settings.kind,
        title: describeScene(scene, table.chosenCount, summarizeLayers(scene, table.chosen)),
        look: { size, theme, ratio },
        points: areShapes ? countIn(data.points, view) : 0,
        paint: (pen, look) => {
            const arranged = arrangeScene(data, table, look.size, plot.view);
            paintScene(pen, { ...scene, ...look, ...arranged, moving: false, exact: true }, table.chosen);
        },
        toCsv: () => exportCsv(scene, table.chosen),
        toPython: () => planePython(scene, table, summarizeLayers(scene, table.chosen)?.fit),
    };
}
