/** The properties of a HiPS (IVOA HiPS 1.0, section 4.4.1): what its tiles are and where. */

import { text } from '../text';
import type { Frame } from '../sky/skyFrames';

export interface SurveyProperties {
    readonly title: string;
    /** '' if unknown */
    readonly copyright: string;
    /** http or https; '' if unknown */
    readonly copyrightAddress: string;
    readonly frame: Frame;
    /** coarsest and finest order of tiles */
    readonly orders: readonly [number, number];
    /** pixels along a tile's side */
    readonly width: number;
    /** extension of the tiles' files */
    readonly extension: 'jpg' | 'png' | 'webp';
}

const EXTENSIONS = { jpeg: 'jpg', png: 'png', webp: 'webp' } as const;
/** Deeper tiles have indices that are no exact numbers of 32 bits for a side. */
const MAX_ORDER = 15;
/** Surveys begin with this order if they do not say. */
export const USUAL_ORDER = 3;

/** Read the text of a properties file. Raises an Error if the map cannot show the survey. */
export function readProperties(content: string): SurveyProperties {
    const texts = text.home.survey.problems;
    const values = new Map(
        [...content.matchAll(/^\s*([^#=\s]+)\s*=\s*(.*?)\s*$/gm)].map(([, key, value]) => [key!, value!]),
    );
    const formats = (values.get('hips_tile_format') ?? 'jpeg').split(/[\s,]+/);
    const format = (['jpeg', 'png', 'webp'] as const).find((one) => formats.includes(one));
    if (!format) throw new Error(texts.format(formats.join(' ')));
    const frame = values.get('hips_frame') ?? 'equatorial';
    if (frame !== 'equatorial' && frame !== 'galactic') throw new Error(texts.frame(frame));
    const order = Number(values.get('hips_order'));
    if (!values.has('hips_order') || !Number.isInteger(order) || order < 0) throw new Error(texts.properties);
    const width = Number(values.get('hips_tile_width') ?? 512);
    if (!Number.isInteger(Math.log2(width)) || width < 1 || width > 4096) throw new Error(texts.properties);
    const least = Number(values.get('hips_order_min') ?? NaN);
    const finest = Math.min(MAX_ORDER, order);
    const address = values.get('obs_copyright_url') ?? '';
    return {
        title: values.get('obs_title') ?? values.get('obs_collection') ?? '',
        copyright: values.get('obs_copyright') ?? '',
        copyrightAddress: /^https?:\/\//.test(address) ? address : '',
        frame,
        orders: [
            Number.isInteger(least) && least >= 0 ? Math.min(least, finest) : Math.min(USUAL_ORDER, finest),
            finest,
        ],
        width,
        extension: EXTENSIONS[format],
    };
}

/** Return the path of a tile below the address of its survey. */
export function tilePath(order: number, index: number, extension: string): string {
    return `Norder${order}/Dir${Math.floor(index / 10_000) * 10_000}/Npix${index}.${extension}`;
}

/** Side of a tile of order 0, degrees: the root of its area. */
const SIDE = Math.sqrt((4 * Math.PI) / 12) * (180 / Math.PI);

/** Return the order whose pixels are about as large as the pixels of a map, before any limits. */
export function orderForMap(degrees: number, width: number): number {
    // up to 1.3 pixels of the map for one of the survey
    return Math.ceil(Math.log2(SIDE / (degrees * width)) - 0.4);
}
