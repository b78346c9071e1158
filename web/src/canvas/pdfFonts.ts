/**
 * Texts in the standard fonts of PDF, which every reader has: Helvetica for Latin letters, Symbol for Greek ones and signs.
 * Widths follow Adobe's font metrics, in thousandths of the size.
 */

/** A part of a text: in a font by the bytes of its encoding, or a picture of characters that neither font has. */
export type Run =
    | {
          readonly font: 'Helvetica' | 'Symbol';
          readonly bytes: readonly number[];
          /** in sizes of the font */
          readonly width: number;
          readonly scale: number;
          readonly rise: number;
      }
    | { readonly font: undefined; readonly characters: string };

// prettier-ignore
const LATIN_WIDTHS = [
    // from the space
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278,
    584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944,
    667, 667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500,
    278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
];
// prettier-ignore
const UPPER_WIDTHS = [
    // from 160, as in Latin-1
    278, 333, 556, 556, 556, 556, 260, 556, 333, 737, 370, 556, 584, 333, 737, 333, 400, 584, 333, 333, 333, 556, 537, 278, 333, 333, 365, 556,
    834, 834, 834, 611, 667, 667, 667, 667, 667, 667, 1000, 722, 667, 667, 667, 667, 278, 278, 278, 278, 722, 722, 778, 778, 778, 778, 778, 584,
    778, 722, 722, 722, 722, 667, 667, 611, 556, 556, 556, 556, 556, 556, 889, 500, 556, 556, 556, 556, 278, 278, 278, 278, 556, 556, 556, 556,
    556, 556, 556, 584, 611, 556, 556, 556, 556, 500, 556, 500,
];
/** Characters of WinAnsiEncoding beyond Latin-1: code and width. */
// prettier-ignore
const WINDOWS: Readonly<Record<string, readonly [number, number]>> = {
    '€': [0x80, 556], '…': [0x85, 1000], '†': [0x86, 556], '‡': [0x87, 556], '‰': [0x89, 1000], 'Š': [0x8a, 667], 'Œ': [0x8c, 1000],
    'Ž': [0x8e, 611], '‘': [0x91, 222], '’': [0x92, 222], '“': [0x93, 333], '”': [0x94, 333], '•': [0x95, 350], '–': [0x96, 556],
    '—': [0x97, 1000], '™': [0x99, 1000], 'š': [0x9a, 500], 'œ': [0x9c, 944], 'ž': [0x9e, 500], 'Ÿ': [0x9f, 667],
};
const GREEK = 'ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ';
const SMALL_GREEK = 'αβχδεφγηιϕκλμνοπθρστυϖωξψζ';
// prettier-ignore
const GREEK_WIDTHS = [
    722, 667, 722, 612, 611, 763, 603, 722, 333, 631, 722, 686, 889, 722, 722, 768, 741, 556, 592, 611, 690, 439, 768, 645, 795, 611,
    631, 549, 549, 494, 439, 521, 411, 603, 329, 603, 549, 549, 576, 521, 549, 549, 521, 549, 603, 439, 576, 713, 686, 493, 686, 494,
];
// prettier-ignore
const SIGNS: Readonly<Record<string, readonly [number, number]>> = {
    '−': [0x2d, 549], '∼': [0x7e, 549], '′': [0xa2, 247], '≤': [0xa3, 549], '∞': [0xa5, 713], '″': [0xb2, 411], '≥': [0xb3, 549],
    '∝': [0xb5, 713], '∂': [0xb6, 494], '≠': [0xb9, 549], '≈': [0xbb, 549], '√': [0xd6, 549], '⋅': [0xd7, 250], '∑': [0xe5, 713],
};
const RAISED: Readonly<Record<string, string>> = Object.fromEntries(
    [...'⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺'].map((sign, k) => [sign, '0123456789−+'[k]!]),
);
const LOWERED: Readonly<Record<string, string>> = Object.fromEntries(
    [...'₀₁₂₃₄₅₆₇₈₉'].map((sign, k) => [sign, String(k)]),
);
const SMALL = 0.65;

interface Glyph {
    readonly font: 'Helvetica' | 'Symbol';
    readonly byte: number;
    readonly width: number;
}

function findGlyph(character: string): Glyph | undefined {
    const code = character.codePointAt(0)!;
    if (code >= 32 && code < 127) return { font: 'Helvetica', byte: code, width: LATIN_WIDTHS[code - 32]! };
    if (code >= 160 && code < 256) return { font: 'Helvetica', byte: code, width: UPPER_WIDTHS[code - 160]! };
    const windows = WINDOWS[character];
    if (windows) return { font: 'Helvetica', byte: windows[0], width: windows[1] };
    const sign = SIGNS[character];
    if (sign) return { font: 'Symbol', byte: sign[0], width: sign[1] };
    const [large, small] = [GREEK.indexOf(character), SMALL_GREEK.indexOf(character)];
    if (large >= 0) return { font: 'Symbol', byte: 0x41 + large, width: GREEK_WIDTHS[large]! };
    if (small >= 0) return { font: 'Symbol', byte: 0x61 + small, width: GREEK_WIDTHS[26 + small]! };
    return undefined;
}

/** Return the parts of a text, from left to right. */
export function splitRuns(content: string): Run[] {
    const runs: Run[] = [];
    for (const character of content.normalize('NFC')) {
        const level = RAISED[character] ? 0.35 : LOWERED[character] ? -0.15 : 0;
        const glyph = findGlyph(RAISED[character] ?? LOWERED[character] ?? character);
        const last = runs.at(-1);
        if (!glyph) {
            const before = last && last.font === undefined ? last.characters : '';
            if (before) runs.pop();
            runs.push({ font: undefined, characters: before + character });
            continue;
        }
        const scale = level ? SMALL : 1;
        const width = (glyph.width / 1000) * scale;
        if (last?.font === glyph.font && last.rise === level) {
            runs[runs.length - 1] = { ...last, bytes: [...last.bytes, glyph.byte], width: last.width + width };
        } else runs.push({ font: glyph.font, bytes: [glyph.byte], width, scale, rise: level });
    }
    return runs;
}
