/** The Python script that draws a plot from `rows`. */

import { plotTexts } from '../../text/plotTexts';
import TEMPLATE from './plot_script.py?raw';

/** What the page shows and the script does not. */
interface Difference {
    /** titles of layers that it leaves out */
    readonly leftOut?: readonly string[];
    /** the page shows line and bins of chosen rows */
    readonly ofChosen?: boolean;
}

/**
 * Return the template with the settings of a plot.
 *
 * @param settings - as `plot_script.py` reads them; NaN and infinities become null
 */
export function writeScript(settings: object, { leftOut = [], ofChosen = false }: Difference = {}): string {
    const notes = [
        ...(leftOut.length ? [plotTexts.layers.notInScript(leftOut.join(', ').toLowerCase())] : []),
        ...(ofChosen ? [plotTexts.layers.ofChosen] : []),
    ];
    // JSON has no three quotes in a row, and escapes all others in texts by a backslash
    const call = `show_plot(rows, r"""${JSON.stringify(settings, null, 2)}""")`;
    return [TEMPLATE.trim(), [...notes.map((note) => `# ${note}`), call].join('\n')].join('\n\n\n');
}
