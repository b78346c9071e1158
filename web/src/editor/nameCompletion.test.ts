import { CompletionContext } from '@codemirror/autocomplete';
import { EditorState } from '@codemirror/state';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { completeName } from '../tap/nameClient';
import { findNameCompletions, objectNameAt } from './nameCompletion';

vi.hoisted(() => {
    const page = { baseURI: 'http://localhost/', documentElement: { style: {} } };
    Object.assign(globalThis, { document: page });
});
vi.mock('../tap/nameClient', () => ({ completeName: vi.fn() }));

const star = (name: string) => ({ ...{ name, main_name: name, table: 's.t', ra: 1, dec: 2 }, magnitude: 3 });

beforeEach(() => void vi.mocked(completeName).mockReset().mockResolvedValue([]));

function typedAt(marked: string) {
    return objectNameAt(marked.replace('|', ''), marked.indexOf('|'));
}

describe('a name that is typed', () => {
    test.each([
        ["SELECT skyhouse_resolve('M3|')", 'M3', 2],
        ["SELECT IVO_SIMBADPOINT('Barnard''s| star')", "Barnard's", 15],
        ["SELECT skyhouse_resolve('M3|", 'M3', 2],
    ])('%s', (marked, typed, long) => {
        const found = typedAt(marked)!;
        expect(found.typed).toBe(typed);
        expect(found.to - found.from).toBe(long);
    });

    test.each(["SELECT 'M3|'", "SELECT skyhouse_resolve('M31'|)", 'SELECT skyhouse_resolve(M3|)', "upper('M3|')"])(
        'nowhere else: %s',
        (marked) => expect(typedAt(marked)).toBeUndefined(),
    );
});

test('offered names are written with their quotes doubled, each once', async () => {
    vi.mocked(completeName).mockResolvedValue([star("Barnard's star"), star("Barnard's star"), star('Barnes 1')]);
    const doc = "SELECT skyhouse_resolve('barn')";
    const found = await findNameCompletions(new CompletionContext(EditorState.create({ doc }), 29, false));
    expect(found?.options.map(({ apply }) => apply)).toEqual(["Barnard''s star", 'Barnes 1']);
    expect(doc.slice(found!.from, found!.to)).toBe('barn');
});

test('a service that does not answer offers nothing', async () => {
    vi.mocked(completeName).mockRejectedValue(new Error('away'));
    const state = EditorState.create({ doc: "skyhouse_resolve('vega')" });
    expect((await findNameCompletions(new CompletionContext(state, 22, false)))?.options).toEqual([]);
});
