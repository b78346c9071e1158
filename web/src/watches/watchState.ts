/** The state of a watch as text: its last run, its failures, and what can be retried. */

import type { Watch, WatchRun } from '../tap/watchClient';
import { text } from '../text';

/** Return the name for a new watch that a query of this text suggests: its table, or '' without one. */
export function suggestName(adql: string, taken: readonly string[]): string {
    const table = /\bfrom\s+(?:"?[\w]+"?\s*\.\s*)?"?([A-Za-z]\w*)"?/i.exec(adql)?.[1] ?? '';
    if (!table) return '';
    const used = new Set(taken.map((name) => name.toLowerCase()));
    const names = [`new_${table}`, ...used].map((_, at) => `new_${table}${at ? `_${at + 1}` : ''}`);
    return names.find((name) => !used.has(name.toLowerCase())) ?? '';
}

/** Return whether a run, or a message about one, was given up and can be tried again. */
export function canRunAgain({ runs }: Watch): boolean {
    return runs.some(
        (run) =>
            run.state === 'FAILED' || Object.values(run.deliveries).some((delivery) => delivery.state === 'GIVEN_UP'),
    );
}

/** Return a sentence about a run. */
export function describeRun(run: WatchRun): string {
    const texts = text.watches.run;
    if (run.state === 'DONE') return texts.done(run.rows, run.added_rows ?? 0);
    return [texts.states[run.state], run.error].filter(Boolean).join(': ');
}

/** Return what became of the messages about a run; '' if there are none. */
export function describeDeliveries({ deliveries }: WatchRun): string {
    const texts = text.watches.run;
    return Object.entries(deliveries)
        .map(([target, { state, error }]) => {
            const said = texts.deliveries[state](texts.targets[target] ?? target);
            return error ? `${said} (${error})` : said;
        })
        .join('; ');
}
