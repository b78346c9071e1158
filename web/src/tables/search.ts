/** Search over names, UCDs, units and descriptions of tables and columns: what fits best comes first. */

export interface Entry {
    readonly kind: 'table' | 'column';
    /** the table, as ADQL writes it: of a column, the one it is in */
    readonly table: string;
    /** as ADQL writes it */
    readonly name: string;
    readonly description: string;
    readonly unit: string;
    readonly ucd: string;
    readonly principal: boolean;
}

export type Part = 'name' | 'ucd' | 'unit' | 'description' | 'table';

/** An entry, and the parts of it in which the words were found. */
export interface Found {
    readonly entry: Entry;
    readonly score: number;
    readonly parts: ReadonlySet<Part>;
}

/** An entry in lower case, so that a search of many need not make it so each time. */
export interface Prepared {
    readonly entry: Entry;
    readonly name: string;
    readonly table: string;
    readonly ucd: string;
    readonly unit: string;
    readonly description: string;
}

export function prepared(entry: Entry): Prepared {
    return {
        entry,
        name: entry.name.toLowerCase(),
        table: entry.table.toLowerCase(),
        ucd: entry.ucd.toLowerCase(),
        unit: entry.unit.toLowerCase(),
        description: entry.description.toLowerCase(),
    };
}

/** The words of what was typed, in lower case. */
export function words(typed: string): string[] {
    return typed.toLowerCase().split(/\s+/).filter(Boolean);
}

/** Entries in which every word is found, the best first; those of equal rank in the order in which they came. */
export function search(entries: readonly Prepared[], typed: string): Found[] {
    const wanted = words(typed);
    if (!wanted.length) return [];
    const found: Found[] = [];
    for (const entry of entries) {
        const hit = matched(entry, wanted);
        if (hit) found.push(hit);
    }
    return found.sort((one, other) => other.score - one.score);
}

function matched(of: Prepared, wanted: readonly string[]): Found | undefined {
    let score = of.entry.principal ? 2 : 0;
    const parts = new Set<Part>();
    for (const word of wanted) {
        const [points, part] = best(of, word);
        if (!part) return undefined;
        score += points;
        parts.add(part);
    }
    // a word that names the table alone finds the table, not each of its columns
    if (of.entry.kind === 'column' && parts.size === 1 && parts.has('table')) return undefined;
    return { entry: of.entry, score, parts };
}

/** Points for the part of the entry that the word fits best. */
function best(of: Prepared, word: string): [number, Part | undefined] {
    const own = of.entry.kind === 'table' ? of.name.slice(of.name.indexOf('.') + 1) : of.name;
    const tried: [number, Part][] = [
        [Math.max(fits(of.name, word, 100), fits(own, word, 100)), 'name'],
        [Math.max(fits(of.ucd, word, 60), ...of.ucd.split(';').map((each) => fits(each, word, 50))), 'ucd'],
        [of.unit === word ? 45 : 0, 'unit'],
        [fits(of.description, word, 30), 'description'],
        [fits(of.table, word, 5), 'table'],
    ];
    let found: [number, Part | undefined] = [0, undefined];
    for (const each of tried) if (each[0] > found[0]) found = each;
    return found;
}

/** `most` points for the whole text, fewer for its beginning, the beginning of a word in it, and any other place. */
function fits(text: string, word: string, most: number): number {
    const at = text.indexOf(word);
    if (at < 0) return 0;
    if (text.length === word.length) return most;
    if (at === 0) return most * 0.7;
    return startsWord(text, word, at) ? most * 0.5 : most * 0.3;
}

function startsWord(text: string, word: string, first: number): boolean {
    for (let at = first; at >= 0; at = text.indexOf(word, at + 1)) {
        if (!/[a-z0-9]/.test(text[at - 1] ?? ' ')) return true;
    }
    return false;
}

/** A text cut where the words are found in it, to be marked. */
export function marked(text: string, typed: string): { text: string; hit: boolean }[] {
    const wanted = words(typed).map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
    if (!wanted.length) return [{ text, hit: false }];
    const pieces = text.split(new RegExp(`(${wanted.join('|')})`, 'gi'));
    return pieces.map((piece, at) => ({ text: piece, hit: at % 2 === 1 })).filter((piece) => piece.text);
}
