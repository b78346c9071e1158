/** Examples by task: the service's own, and generated ones from its columns. */

import type { Example } from '../tap/serviceExamples';
import { lastPartOf, areSameNames, schemaOf } from '../adql/adqlNames';
import { splitWords, type SearchEntry } from './catalogueSearch';

export const TASKS = ['cone', 'colours', 'match', 'series', 'sums'] as const;
export type Task = (typeof TASKS)[number];

/** Maximum number of tables with generated examples. */
const MAX_EXAMPLES = 6;

/** Return the task of an example, by its query and, for light curves, its description. */
export function taskOf(example: Example): Task | undefined {
    const query = example.query.replace(/'[^']*'/g, "''");
    const near = /\b(CONTAINS|DISTANCE|INTERSECTS|skyhouse_nearest|skyhouse_mutual)\s*\(/i.test(query);
    if (/light ?curve|time ?series/i.test(`${example.name} ${example.description}`)) return 'series';
    if (near && example.tables.length > 1) return 'match';
    if (/\bcolou?r[- ]mag/i.test(`${example.name} ${example.description}`)) return 'colours';
    if (near) return 'cone';
    if (/\bmag\w*\s*-\s*\w*mag|\w+_?mag\s*-\s*\w|AS colou?r\b/i.test(query)) return 'colours';
    return /\bGROUP\s+BY\b/i.test(query) ? 'sums' : undefined;
}

/** Group examples by task. */
export function groupByTask(examples: readonly Example[]): Map<Task, Example[]> {
    const found = new Map<Task, Example[]>(TASKS.map((task) => [task, []]));
    for (const example of examples) {
        const task = taskOf(example);
        if (task) found.get(task)!.push(example);
    }
    return found;
}

/** Return the plot that suits an example, by its task or selected columns; undefined if none does. */
export function plotOf(example: Example, task: Task | undefined): 'sky' | 'colours' | 'series' | undefined {
    if (task === 'colours' || task === 'series') return task;
    const selected = example.query.split(/\bFROM\b/i)[0] ?? '';
    return /\bra\b/i.test(selected) && /\bdec\b/i.test(selected) ? 'sky' : undefined;
}

/** Return the examples that contain every typed word. */
export function filterExamples(examples: readonly Example[], typed: string): Example[] {
    const wanted = splitWords(typed);
    const holds = (example: Example) => {
        const all = [example.name, example.description, example.query, ...example.tables].join(' ').toLowerCase();
        return wanted.every((word) => all.includes(word));
    };
    return examples.filter(holds);
}

/** Group examples by table, in order of appearance. */
export function groupByName(examples: readonly Example[]): Map<string, Example[]> {
    const found = new Map<string, Example[]>();
    for (const example of examples) {
        for (const table of example.tables) found.set(table, [...(found.get(table) ?? []), example]);
    }
    return found;
}

/** The texts of generated examples, by task. */
export interface ExampleWords {
    colours(table: string): { name: string; description: string };
    match(one: string, other: string): { name: string; description: string };
    series(table: string): { name: string; description: string };
}

/** Generate examples for tasks that the given ones do not cover. */
export function makeExamples(
    columns: readonly SearchEntry[],
    given: readonly Example[],
    words: ExampleWords,
): Example[] {
    const tables = groupByTable(columns);
    const there = groupByTask(given);
    const has = (task: Task) => (there.get(task) ?? []).length > 0;
    return [
        ...(has('colours') ? [] : tables.flatMap((table) => colourExamples(table, words)).slice(0, MAX_EXAMPLES)),
        ...(has('match') ? [] : matchExamples(tables, words)),
        ...(has('series') ? [] : tables.flatMap((table) => seriesExamples(table, words)).slice(0, MAX_EXAMPLES)),
    ];
}

interface Table {
    readonly name: string;
    readonly columns: readonly SearchEntry[];
}

function groupByTable(columns: readonly SearchEntry[]): Table[] {
    const tables = new Map<string, SearchEntry[]>();
    for (const column of columns) {
        if (areSameNames(schemaOf(column.table), 'TAP_SCHEMA')) continue;
        const known = tables.get(column.table);
        if (known) known.push(column);
        else tables.set(column.table, [column]);
    }
    return [...tables].map(([name, of]) => ({ name, columns: of }));
}

/** Return the first column whose UCD starts with `first` and contains the others. */
function findByUcd(table: Table, first: string, ...others: string[]): SearchEntry | undefined {
    return table.columns.find((column) => {
        const [head, ...rest] = column.ucd.toLowerCase().split(';');
        return head === first && others.every((other) => rest.includes(other.toLowerCase()));
    });
}

/** Bands for colours, from blue to red. */
const BANDS = ['em.opt.B', 'em.opt.V', 'em.opt.R', 'em.opt.I', 'em.IR.J', 'em.IR.H', 'em.IR.K'];

function colourExamples(table: Table, words: ExampleWords): Example[] {
    const found = BANDS.flatMap((band) => findByUcd(table, 'phot.mag', band) ?? []);
    const [blue, red] = found;
    if (!blue || !red) return [];
    const query =
        `SELECT TOP 50000 ${blue.name}, ${red.name}, ${blue.name} - ${red.name} AS colour\n` +
        `FROM ${table.name}\nWHERE ${blue.name} IS NOT NULL AND ${red.name} IS NOT NULL`;
    return [{ id: `made-colours-${table.name}`, ...words.colours(table.name), query, tables: [table.name] }];
}

function matchExamples(tables: readonly Table[], words: ExampleWords): Example[] {
    const [one, other] = tables.filter((table) => findPosition(table));
    if (!one || !other) return [];
    const writePoint = (table: Table, as: string) =>
        `POINT(${findPosition(table)!
            .map((column) => `${as}.${column.name}`)
            .join(', ')})`;
    const near = `DISTANCE(${writePoint(one, 'a')}, ${writePoint(other, 'b')})`;
    const ids = [[one, 'a'] as const, [other, 'b'] as const].flatMap(([table, as]) => {
        const id = findByUcd(table, 'meta.id', 'meta.main') ?? findPosition(table)![0];
        return `${as}.${id.name} AS ${as}_${id.name.replace(/\W/g, '')}`;
    });
    const query =
        `SELECT TOP 1000 ${ids.join(', ')}, IN_UNIT(${near}, 'arcsec') AS separation\n` +
        `FROM ${one.name} AS a JOIN ${other.name} AS b\n  ON ${near} < 2 / 3600.`;
    const named = words.match(lastPartOf(one.name), lastPartOf(other.name));
    return [{ id: 'made-match', ...named, query, tables: [one.name, other.name] }];
}

function findPosition(table: Table): readonly [SearchEntry, SearchEntry] | undefined {
    const ra = findByUcd(table, 'pos.eq.ra', 'meta.main') ?? findByUcd(table, 'pos.eq.ra');
    const dec = findByUcd(table, 'pos.eq.dec', 'meta.main') ?? findByUcd(table, 'pos.eq.dec');
    return ra && dec ? [ra, dec] : undefined;
}

function seriesExamples(table: Table, words: ExampleWords): Example[] {
    const time = findByUcd(table, 'time.epoch') ?? findByUcd(table, 'time.epoch', 'meta.main');
    const flux = table.columns.find((column) => /^phot\.(mag|flux)/i.test(column.ucd));
    const object = table.columns.find((column) => /^meta\.id\b/i.test(column.ucd) && column !== time);
    if (!time || !flux || !object) return [];
    const band = findByUcd(table, 'instr.bandpass');
    const shown = [time, flux, ...(band ? [band] : [])].map((column) => column.name).join(', ');
    const query =
        `SELECT ${shown}\nFROM ${table.name}\n` +
        `WHERE ${object.name} = (SELECT MIN(${object.name}) FROM ${table.name})\nORDER BY ${time.name}`;
    return [{ id: `made-series-${table.name}`, ...words.series(table.name), query, tables: [table.name] }];
}
