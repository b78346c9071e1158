/** The plot of a stage as a picture that can be saved. */

import { arrangeScene } from '../table/arrangement';
import { exportCsv } from './plotExport';
import { describeScene } from './sceneDescription';
import { summarizeLayers } from '../layers/layerSummary';
import { paintScene } from './paintPlot';
import type { PlotPicture } from '../points/plotPicture';
import type { Scene } from '../points/plotScene';
import { countIn } from '../points/scatterPixels';
import { type TablePlot } from '../table/tablePlot.svelte';
import { planePython } from './planeScript';

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
        toPython: () => planePython(scene, table, table.chosenCount > 0),
    };
}
