import { CompletionContext } from '@codemirror/autocomplete';
import { EditorState } from '@codemirror/state';
import { describe, expect, test, vi } from 'vitest';
import type { Column, Schema } from '../tap/vosiTables';
import type { Tables } from './relationColumns';
import { findCompletions } from './adqlCompletion';
import { functionsOf } from './adqlFunctions';

// the module that asks takes the service's address from the page's; the editor asks for the browser's styles
vi.hoisted(() => {
    const page = { baseURI: 'http://localhost/', documentElement: { style: {} } };
    Object.assign(globalThis, { document: page });
});

const column = (name: string, unit = ''): Column => ({
    ...{ name, unit, description: '', ucd: '', utype: '', datatype: 'DOUBLE', arraysize: '', xtype: '' },
    ...{ indexed: false, primary: false, nullable: true },
});

const COLUMNS: Record<string, Column[]> = {
    'tycho2.bright': [column('ra', 'deg'), column('"date"'), column('vt_mag', 'mag')],
    'openngc.objects': [column('ra', 'deg'), column('name')],
};

const schemas: Schema[] = Object.keys(COLUMNS).map((name) => ({
    ...{ name: name.split('.')[0]!, description: '' },
    tables: [{ name, description: '' }],
}));

const tables: Tables = { schemas, columns: (table) => Promise.resolve(COLUMNS[table]!) };
const functions = functionsOf([{ form: 'ivo_to_jd(d TIMESTAMP) -> REAL', description: 'Julian date.' }]);

/** What is offered at the |, keywords left out, as `label>what is written`. */
async function offered(marked: string, known: Tables = tables): Promise<string[]> {
    const [doc, at] = [marked.replace('|', ''), marked.indexOf('|')];
    const found = await findCompletions(new CompletionContext(EditorState.create({ doc }), at, true), known, functions);
    return (found?.options ?? [])
        .filter(({ type }) => type !== 'keyword' && type !== 'function')
        .map(({ label, apply, detail = '' }) =>
            `${label}${typeof apply === 'string' ? `>${apply}` : ''} ${detail}`.trim(),
        );
}

describe('completion', () => {
    test.each([
        ['SELECT b.| FROM tycho2.bright AS b, openngc.objects', ['ra deg', 'date>"date"', 'vt_mag mag']],
        ['SELECT * FROM tycho2.|', ['bright table']],
        ['SELECT * FROM |', ['tycho2.bright table', 'openngc.objects table', 'tycho2 schema', 'openngc schema']],
        ['SELECT | FROM openngc.objects', ['ra deg', 'name', 'objects openngc.objects']],
        [
            'SELECT | FROM tycho2.bright AS b, openngc.objects AS o',
            [
                ...['ra>b.ra b · deg', 'date>"date" b', 'vt_mag b · mag', 'ra>o.ra o · deg', 'name o'],
                ...['b tycho2.bright', 'o openngc.objects'],
            ],
        ],
        [
            'SELECT vt_mag AS v FROM bright ORDER BY |',
            ['v output', 'ra deg', 'date>"date"', 'vt_mag mag', 'bright bright'],
        ],
        [
            'SELECT "d|" FROM bright',
            ['"ra">"ra" deg', '"date">"date"', '"vt_mag">"vt_mag" mag', '"bright">"bright" bright'],
        ],
        ['WITH w AS (SELECT name AS n FROM objects) SELECT w.|', ['n']],
        ["SELECT 'b.|' FROM bright AS b", []],
        ['SELECT * FROM bright |', []],
    ])('%s', async (marked, options) => expect(await offered(marked)).toEqual(options));

    test('functions of ADQL and of the service, words in the case that is typed', async () => {
        const context = new CompletionContext(EditorState.create({ doc: 'SELECT * FROM bright WHERE iv' }), 29, false);
        const labels = (await findCompletions(context, tables, functions))!.options.map(({ label }) => label);
        expect(labels).toEqual(expect.arrayContaining(['ivo_to_jd', 'CIRCLE', 'between']));
        expect(labels).not.toContain('BETWEEN');
    });

    test('without the service words are completed all the same', async () => {
        const down: Tables = { schemas, columns: () => Promise.reject(new Error('no answer')) };
        expect(await offered('SELECT | FROM bright', down)).toEqual(['bright bright']);
    });

    describe('after ON', () => {
        const at = (name: string, ucd: string, unit = ''): Column => ({ ...column(name, unit), ucd });
        const position = [at('ra', 'pos.eq.ra;meta.main', 'deg'), at('dec', 'pos.eq.dec;meta.main', 'deg')];
        const columns: Record<string, Column[]> = {
            'g.source': [at('source_id', 'meta.id;meta.main'), ...position],
            'g.epoch': [at('source_id', 'meta.id'), at('"of"', ''), column('mag', 'mag')],
            'TAP_UPLOAD.mine': [column('l', 'deg'), column('b', 'deg')],
        };
        const joinable: Tables = {
            schemas: ['g', 'TAP_UPLOAD'].map((name) => ({
                ...{ name, description: '' },
                tables: Object.keys(columns)
                    .filter((table) => table.startsWith(name))
                    .map((table) => ({ name: table, description: '' })),
            })),
            columns: (table) => Promise.resolve(columns[table]!),
            keys: () =>
                Promise.resolve([
                    { from: 'g.epoch', target: 'g.source', columns: [{ from: 'of', target: 'source_id' }] },
                ]),
            position: (table) =>
                table === 'TAP_UPLOAD.mine'
                    ? {
                          frame: 'GALACTIC',
                          longitude: { column: 'l', form: 'deg' },
                          latitude: { column: 'b', form: 'deg' },
                      }
                    : undefined,
        };
        const conditions = async (marked: string) =>
            (await offered(marked, joinable)).filter((one) => /[=<]/.test(one));

        test.each([
            [
                'SELECT * FROM g.source AS a JOIN g.epoch AS b ON |',
                ['a.source_id = b."of" foreign key', 'a.source_id = b.source_id same identifier'],
            ],
            [
                'SELECT * FROM g.source AS a JOIN source AS "B c" ON |WHERE 1 = 1',
                [
                    'a.source_id = "B c".source_id same identifier',
                    'DISTANCE(a.ra, a.dec, "B c".ra, "B c".dec) < 1 / 3600. same position',
                ],
            ],
            [
                'SELECT * FROM g.source AS a JOIN TAP_UPLOAD.mine AS m ON | JOIN g.epoch AS b ON 1 = 1',
                ["DISTANCE(POINT(a.ra, a.dec), POINT('GALACTIC', m.l, m.b)) < 1 / 3600. same position"],
            ],
            [
                'SELECT * FROM (SELECT ra, dec FROM g.source) AS s JOIN g.source ON |',
                ['DISTANCE(s.ra, s.dec, source.ra, source.dec) < 1 / 3600. same position'],
            ],
            ['SELECT * FROM g.source AS a JOIN g.epoch AS b ON a.ra > 1 AND |', []],
        ])('%s', async (marked, expected) => expect(await conditions(marked)).toEqual(expected));

        test('they come first, and without being asked for', async () => {
            const doc = 'SELECT * FROM g.source AS a JOIN g.epoch AS b ON ';
            const context = new CompletionContext(EditorState.create({ doc }), doc.length, false);
            const options = (await findCompletions(context, joinable, functions))!.options;
            const [first] = options.toSorted((one, other) => (other.boost ?? 0) - (one.boost ?? 0));
            expect(first?.label).toBe('a.source_id = b."of"');
        });

        test('JOIN prefers tables that a key connects', async () => {
            expect(await offered('SELECT * FROM g.source AS a JOIN |', joinable)).toContain(
                'g.epoch has a key in common',
            );
            expect(await offered('SELECT * FROM |', joinable)).toContain('g.epoch table');
        });
    });
});
