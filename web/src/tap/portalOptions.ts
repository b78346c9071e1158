/** What the operator has set for the portal, in addition to what every TAP client may ask. */

import { text } from '../text';
import { TapError } from './tapRequest';

export interface PortalOptions {
    /** addresses of HiPS, each with a slash at its end */
    readonly surveys: readonly string[];
    /** the operator has installed Aladin Lite, which has its own page */
    readonly aladinLite: boolean;
}

/** Raises TapError. */
export async function loadPortalOptions(): Promise<PortalOptions> {
    const answer = await fetch(new URL('portal.json', document.baseURI)).catch(() => undefined);
    if (!answer?.ok) throw new TapError(text.common.noAnswer, answer?.status ?? 0);
    return (await answer.json()) as PortalOptions;
}
