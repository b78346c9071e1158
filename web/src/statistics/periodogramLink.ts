/** Asks a separate worker for a periodogram. */

import type { Periodogram, PeriodogramRequest } from './periodogramWorker';

/** Compute a periodogram; `signal` ends the work. Raises an Error if the worker fails. */
export function requestPeriodogram(wanted: PeriodogramRequest, signal: AbortSignal): Promise<Periodogram> {
    const worker = new Worker(new URL('./periodogramWorker.ts', import.meta.url), { type: 'module' });
    const answered = new Promise<Periodogram>((resolve, reject) => {
        worker.onmessage = ({ data }: MessageEvent<Periodogram>) => resolve(data);
        worker.onerror = (event) => {
            event.preventDefault();
            reject(new Error(event.message ?? ''));
        };
        signal.addEventListener('abort', () => reject(new DOMException('', 'AbortError')));
    });
    worker.postMessage(wanted);
    return answered.finally(() => worker.terminate());
}
