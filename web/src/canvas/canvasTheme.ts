/** The page's colours for a canvas, which cannot use CSS variables. */

import { kindColours, luminanceOf, packPixel, cssToPixel, makeRamp, type Ramp } from './colourRamps';

export interface Theme {
    readonly dark: boolean;
    readonly ground: string;
    readonly text: string;
    readonly quiet: string;
    readonly line: string;
    readonly accent: string;
    readonly warn: string;
    readonly font: string;
    readonly ramp: Ramp;
    readonly kinds: Ramp;
}

const NAMES = ['ground', 'text', 'quiet', 'line', 'accent', 'warn'] as const;

/** Read the colours at an element. */
export function themeAt(element: HTMLElement): Theme {
    const probe = document.createElement('span');
    element.append(probe);
    const colours = NAMES.map((name) => {
        probe.style.color = `var(--${name})`;
        return [name, getComputedStyle(probe).color] as const;
    });
    const font = getComputedStyle(probe).fontFamily;
    probe.remove();
    const named = Object.fromEntries(colours) as Record<(typeof NAMES)[number], string>;
    const dark = luminanceOf(cssToPixel(named.ground)) < 0.2;
    return { ...named, dark, font, ramp: makeRamp(dark), kinds: kindColours(dark) };
}

/** Read the page's light or dark colours, whichever it shows. */
export function themeOf(scheme: 'light' | 'dark'): Theme {
    const { dataset } = document.documentElement;
    const before = dataset['theme'];
    // the page is not painted between the two changes
    dataset['theme'] = scheme;
    const theme = themeAt(document.body);
    if (before === undefined) delete dataset['theme'];
    else dataset['theme'] = before;
    return theme;
}

/** Call `changed` when the page's or the system's theme changes. Return a function that stops it. */
export function watchTheme(changed: () => void): () => void {
    const system = matchMedia('(prefers-color-scheme: dark)');
    const page = new MutationObserver(changed);
    page.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] });
    system.addEventListener('change', changed);
    return () => {
        page.disconnect();
        system.removeEventListener('change', changed);
    };
}

/** Return the colour of sky without rows: near the background, so that the least count stands out. */
export const emptySky = (theme: Theme): number => (theme.dark ? packPixel(28, 36, 50) : packPixel(233, 237, 244));
