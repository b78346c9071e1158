/** The description of running work. */

import type { RunningWork } from '../tap/adminClient';
import { counted, duration, size } from '../text';
import { adminTexts } from '../text/adminTexts';

/** Return the parts of a line; `now` in milliseconds since 1970. */
export function describeWork(work: RunningWork, now: number): string[] {
    const texts = adminTexts.running;
    const seconds = Math.max(0, (now - Date.parse(work.since)) / 1000);
    return [
        work.state,
        work.lane,
        texts.since(duration(seconds)),
        work.read_rows ? texts.read(counted(work.read_rows, 'row'), size(work.read_bytes)) : '',
        work.memory ? texts.memory(size(work.memory)) : '',
        work.sent_bytes ? texts.sent(size(work.sent_bytes)) : '',
    ].filter(Boolean);
}
