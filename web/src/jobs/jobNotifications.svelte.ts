/** The browser's own notifications at the end of jobs, if the user has asked for them. */

import { writeStored, readStored } from '../browser/storedValues';
import { service } from '../tap/serviceInfo.svelte';
import { router } from '../browser/router.svelte';
import type { WatchedJob } from './watchedJob.svelte';
import { endText, titleOf } from './jobWording';

const KEY = 'notify';

class JobNotifications {
    /** the user wants them, and the browser allows them */
    on = $state(readStored(KEY, false) && currentPermission() === 'granted');
    denied = $state(currentPermission() === 'denied');
    #told: readonly string[] = [];

    /** Ask the browser, on a click of the user's, or leave off. */
    async setWanted(wanted: boolean): Promise<void> {
        const granted =
            wanted && (currentPermission() === 'granted' || (await Notification.requestPermission()) === 'granted');
        [this.on, this.denied] = [granted, currentPermission() === 'denied'];
        writeStored(KEY, granted);
    }

    /** Tell the end of a job, once; not to who looks at the page. */
    notifyEnd(watched: WatchedJob): void {
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
function currentPermission(): NotificationPermission {
    return 'Notification' in window && window.isSecureContext ? Notification.permission : 'denied';
}

export const notifications = new JobNotifications();
