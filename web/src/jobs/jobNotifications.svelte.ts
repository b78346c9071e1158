/** Browser notifications at the end of jobs, if the user wants them. */

import { writeStored, readStored } from '../browser/storedValues';
import { service } from '../tap/serviceInfo.svelte';
import { router } from '../browser/router.svelte';
import type { WatchedJob } from './watchedJob.svelte';
import { endText } from './jobWording';

const KEY = 'notify';

class JobNotifications {
    /** wanted by the user and allowed by the browser */
    on = $state(readStored(KEY, false) && currentPermission() === 'granted');
    denied = $state(currentPermission() === 'denied');
    #notified: readonly string[] = [];

    /** Switch notifications on or off; the browser asks the user. */
    async setWanted(wanted: boolean): Promise<void> {
        const granted =
            wanted && (currentPermission() === 'granted' || (await Notification.requestPermission()) === 'granted');
        [this.on, this.denied] = [granted, currentPermission() === 'denied'];
        writeStored(KEY, granted);
    }

    /** Notify the user once that a job has ended, unless the page is visible. */
    notifyEnd(watched: WatchedJob): void {
        if (this.#notified.includes(watched.id)) return;
        this.#notified = [...this.#notified, watched.id];
        if (!this.on || document.visibilityState === 'visible') return;
        const title = endText(watched.shownTitle, watched.phase);
        // `tag`: one notification per job, however many tabs watch it
        const shown = new Notification(service.title, { body: title, tag: watched.id });
        shown.onclick = () => {
            window.focus();
            router.go('jobs', watched.id);
            shown.close();
        };
    }
}

/** 'denied' also where the browser has none: without TLS, on some phones. */
function currentPermission(): NotificationPermission {
    return 'Notification' in window && window.isSecureContext ? Notification.permission : 'denied';
}

export const notifications = new JobNotifications();
