/** What the service calls itself. */

import { text } from '../text';

class About {
    title = $state<string>(text.common.product);
}

export const service = new About();
