/** The browser's own notifications at the end of jobs, if the user has asked for them. */

import { keep, kept } from '../browser/storedValues';
import { service } from '../tap/serviceInfo.svelte';
import { router } from '../browser/router.svelte';
import type { WatchedJob } from './watchedJob.svelte';
import { endText, titleOf } from './jobWording';

const KEY = 'notify';

class Notifications {
    /** the user wants them, and the browser allows them */
    on = $state(kept(KEY, false) && permission() === 'granted');
    denied = $state(permission() === 'denied');
    #told: readonly string[] = [];

    /** Ask the browser, on a click of the user's, or leave off. */
    async want(wanted: boolean): Promise<void> {
        const granted =
            wanted && (permission() === 'granted' || (await Notification.requestPermission()) === 'granted');
        [this.on, this.denied] = [granted, permission() === 'denied'];
        keep(KEY, granted);
    }

    /** Tell the end of a job, once; not to who looks at the page. */
    tell(watched: WatchedJob): void {
        if (this.#told.includes(watched.id)) return;
        this.#told = [...this.#told, watched.id];
        if (!this.on || document.visibilityState === 'visible') return;
        const title = endText(watched.title || titleOf(watched.job), watched.phase);
        // one for a job, however many tabs of the browser watch it
        const shown = new Notification(service.title, { body: title, tag: watched.id });
        shown.onclick = () => {
            window.focus();
            router.go('jobs', watched.id);
            shown.close();
        };
    }
}

/** 'denied' too where there are none: pages without TLS, some phones. */
function permission(): NotificationPermission {
    return 'Notification' in window && window.isSecureContext ? Notification.permission : 'denied';
}

export const notifications = new Notifications();
