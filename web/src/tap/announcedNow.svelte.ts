/** The announcements as of now: the frame shows them, administrators change them. */

import type { Announced } from './announcedTexts';
import { addressOf } from './tapRequest';

const NOTHING: Announced = { draining: '', downtimes: [], notes: [] };

class AnnouncedNow {
    all = $state.raw(NOTHING);

    /** Load them; none if the service does not answer, which other requests report. */
    async load(): Promise<void> {
        try {
            const answer = await fetch(addressOf('announcements'), { credentials: 'omit' });
            this.all = answer.ok ? ((await answer.json()) as Announced) : NOTHING;
        } catch {
            this.all = NOTHING;
        }
    }
}

export const announcedNow = new AnnouncedNow();
