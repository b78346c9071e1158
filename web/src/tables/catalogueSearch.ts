/** Search over names, UCDs, units and descriptions of tables and columns: what fits best comes first. */

export interface SearchEntry {
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

export type EntryPart = 'name' | 'ucd' | 'unit' | 'description' | 'table';

/** An entry, and the parts of it in which the words were found. */
export interface FoundEntry {
    readonly entry: SearchEntry;
    readonly score: number;
    readonly parts: ReadonlySet<EntryPart>;
}

/** An entry in lower case, so that a search of many need not make it so each time. */
export interface PreparedEntry {
    readonly entry: SearchEntry;
    readonly name: string;
    /** of a table: without its schema */
    readonly own: string;
    readonly table: string;
    readonly ucd: string;
    readonly unit: string;
    readonly description: string;
    /** all of it, to be passed over at once where a word is nowhere in it */
    readonly all: string;
}

/** The best of what was found, and how much there was. */
export interface Findings {
    readonly total: number;
    readonly best: readonly FoundEntry[];
}

export function prepareEntry(entry: SearchEntry): PreparedEntry {
    const name = entry.name.toLowerCase();
    const [table, ucd, unit] = [entry.table.toLowerCase(), entry.ucd.toLowerCase(), entry.unit.toLowerCase()];
    const description = entry.description.toLowerCase();
    const own = entry.kind === 'table' ? name.slice(name.indexOf('.') + 1) : name;
    return { entry, name, own, table, ucd, unit, description, all: [name, ucd, unit, description, table].join('\n') };
}

/** The words of what was typed, in lower case. */
export function splitWords(typed: string): string[] {
    return typed.toLowerCase().split(/\s+/).filter(Boolean);
}

/** Entries in which every word is found, the best `most` first; those of equal rank in the order in which they came. */
export function searchEntries(entries: readonly PreparedEntry[], typed: string, most = Infinity): Findings {
    const wanted = splitWords(typed);
    if (!wanted.length) return { total: 0, best: [] };
    const ranked: { at: number; score: number }[] = [];
    for (let at = 0; at < entries.length; at++) {
        const score = scoreOf(entries[at]!, wanted);
        if (score > 0) ranked.push({ at, score });
    }
    const least = leastOf(ranked, most);
    const best = ranked.filter(({ score }) => score >= least).sort((one, other) => other.score - one.score);
    const found = best.slice(0, most).map(({ at, score }) => {
        const entry = entries[at]!;
        return { entry: entry.entry, score, parts: new Set(wanted.map((word) => PARTS[partOf(entry, word)]!)) };
    });
    return { total: ranked.length, best: found };
}

/** The score that the best `most` have at least: without sorting all of them. */
function leastOf(ranked: readonly { score: number }[], most: number): number {
    if (ranked.length <= most) return 0;
    const counts = new Map<number, number>();
    for (const { score } of ranked) counts.set(score, (counts.get(score) ?? 0) + 1);
    let sum = 0;
    for (const score of [...counts.keys()].sort((one, other) => other - one)) {
        sum += counts.get(score)!;
        if (sum >= most) return score;
    }
    return 0;
}

const PARTS: readonly EntryPart[] = ['name', 'ucd', 'unit', 'description', 'table'];
const TABLE = 4;

/** Points of an entry, 0 if a word is nowhere in it. */
function scoreOf(of: PreparedEntry, wanted: readonly string[]): number {
    for (const word of wanted) if (!of.all.includes(word)) return 0;
    let score = of.entry.principal ? 2 : 0;
    let tableAlone = of.entry.kind === 'column';
    for (const word of wanted) {
        const part = partOf(of, word);
        const points = pointsOf(of, word, part);
        if (!points) return 0;
        score += points;
        tableAlone &&= part === TABLE;
    }
    // a word that names the table alone finds the table, not each of its columns
    return tableAlone ? 0 : score;
}

/** The part of the entry that the word fits best, by its number. */
function partOf(of: PreparedEntry, word: string): number {
    let [best, most] = [0, 0];
    for (let part = 0; part <= TABLE; part++) {
        const points = pointsOf(of, word, part);
        if (points > most) [best, most] = [part, points];
    }
    return best;
}

function pointsOf(of: PreparedEntry, word: string, part: number): number {
    switch (part) {
        case 0:
            return Math.max(fitPoints(of.name, word, 100), of.own === of.name ? 0 : fitPoints(of.own, word, 100));
        case 1:
            return ucdPoints(of.ucd, word);
        case 2:
            return of.unit === word ? 45 : 0;
        case 3:
            return fitPoints(of.description, word, 30);
        default:
            return fitPoints(of.table, word, 5);
    }
}

/** A UCD by all of it, else by one of its words. */
function ucdPoints(ucd: string, word: string): number {
    const points = fitPoints(ucd, word, 60);
    if (!points || ucd.length === word.length) return points;
    return `;${ucd};`.includes(`;${word};`) ? 50 : points;
}

/** `most` points for the whole text, fewer for its beginning, the beginning of a word in it, and any other place. */
function fitPoints(text: string, word: string, most: number): number {
    const at = text.indexOf(word);
    if (at < 0) return 0;
    if (text.length === word.length) return most;
    if (at === 0) return most * 0.7;
    return startsWord(text, word, at) ? most * 0.5 : most * 0.3;
}

function startsWord(text: string, word: string, first: number): boolean {
    for (let at = first; at >= 0; at = text.indexOf(word, at + 1)) {
        const before = text.charCodeAt(at - 1);
        const isLetter = (before >= 97 && before <= 122) || (before >= 48 && before <= 57);
        if (!isLetter) return true;
    }
    return false;
}

/** A text cut where the words are found in it, to be marked. */
export function markWords(text: string, typed: string): { text: string; hit: boolean }[] {
    const wanted = splitWords(typed).map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
    if (!wanted.length) return [{ text, hit: false }];
    const pieces = text.split(new RegExp(`(${wanted.join('|')})`, 'gi'));
    return pieces.map((piece, at) => ({ text: piece, hit: at % 2 === 1 })).filter((piece) => piece.text);
}
