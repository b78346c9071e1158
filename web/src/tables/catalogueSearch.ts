/** Search over names, UCDs, units and descriptions of tables and columns, best match first. */

export interface SearchEntry {
    readonly kind: 'table' | 'column';
    /** as ADQL writes it; the table of a column */
    readonly table: string;
    /** as ADQL writes it */
    readonly name: string;
    readonly description: string;
    readonly unit: string;
    readonly ucd: string;
    readonly principal: boolean;
}

export type EntryPart = 'name' | 'ucd' | 'unit' | 'description' | 'table';

/** An entry and the parts that match. */
export interface FoundEntry {
    readonly entry: SearchEntry;
    readonly score: number;
    readonly parts: ReadonlySet<EntryPart>;
}

/** An entry in lower case, prepared once for many searches. */
export interface PreparedEntry {
    readonly entry: SearchEntry;
    readonly name: string;
    /** a table's name without its schema */
    readonly own: string;
    readonly table: string;
    readonly ucd: string;
    readonly unit: string;
    readonly description: string;
    /** all parts together, to reject an entry at once */
    readonly all: string;
}

/** The best matches and the total. */
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

/** Return the words of a search, in lower case. */
export function splitWords(typed: string): string[] {
    return typed.toLowerCase().split(/\s+/).filter(Boolean);
}

/** Return the entries that contain every word, the best `most` first; entries of equal rank keep their order. */
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

/** Return the least score of the best `most`, without sorting all. */
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

/** Return the points of an entry, 0 if a word is missing. */
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
    // a word that matches only the table's name finds the table, not each column
    return tableAlone ? 0 : score;
}

/** Return the index of the part that matches the word best. */
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

/** Match a complete UCD, otherwise one of its words. */
function ucdPoints(ucd: string, word: string): number {
    const points = fitPoints(ucd, word, 60);
    if (!points || ucd.length === word.length) return points;
    return `;${ucd};`.includes(`;${word};`) ? 50 : points;
}

/** Return `most` points for the whole text, fewer for its start, the start of a word, or elsewhere. */
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

/** Split a text at the words found in it. */
export function markWords(text: string, typed: string): { text: string; hit: boolean }[] {
    const wanted = splitWords(typed).map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
    if (!wanted.length) return [{ text, hit: false }];
    const pieces = text.split(new RegExp(`(${wanted.join('|')})`, 'gi'));
    return pieces.map((piece, at) => ({ text: piece, hit: at % 2 === 1 })).filter((piece) => piece.text);
}
