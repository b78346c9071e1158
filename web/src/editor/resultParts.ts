/** The parts of the portal that show the rows of a result, loaded before these arrive. */

import { loadPart } from '../browser/pagePart';

/** Load them now. A failure is reported where they are shown. */
export function preloadResultParts(): void {
    const parts = [
        loadPart(() => import('../results/ResultPanel.svelte')),
        loadPart(() => import('../rows/workerTable.svelte')),
    ];
    for (const part of parts) part.catch(() => undefined);
}
