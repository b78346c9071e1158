import { expect, test, vi } from 'vitest';
import { TapError } from './tapRequest';
import { withUploadType, describeReadError } from './uploadType';

vi.hoisted(() => Object.assign(globalThis, { document: { baseURI: 'http://localhost/' } }));

const file = (name: string, content: string | Uint8Array<ArrayBuffer>, type = '') =>
    new File([content], name, { type });
const kind = async (name: string, content: string | Uint8Array<ArrayBuffer>) =>
    (await withUploadType(file(name, content, 'text/csv'))).type;

test('tables of tabs are told to the service, others tell by themselves', async () => {
    expect(await kind('a.tsv', 'ra\tdec\n1\t2\n')).toBe('text/tab-separated-values');
    expect(await kind('a.txt', '\uFEFFra\tdec\r\n1\t2\n')).toBe('text/tab-separated-values');
    expect(await kind('a.tsv.gz', new Uint8Array([31, 139, 8, 9]))).toBe('text/tab-separated-values');
    for (const content of ['ra,dec\n1\t,2', 'a', '', '<VOTABLE\tversion="1.4">', '# %ECSV 1.0\n'])
        expect(await kind('a.csv', content)).toBe('application/octet-stream');
    expect(await kind('a.tsv', new Uint8Array([137, 80, 9, 0]))).toBe('application/octet-stream');
});

test('the content is not touched', async () => {
    expect(await (await withUploadType(file('a.csv', 'ra,dec\r\n'))).text()).toBe('ra,dec\r\n');
});

test('why a file cannot be read', async () => {
    const here = { filename: 'a.csv', blob: file('a.csv', 'x') };
    const said = (message: string) => describeReadError(new TapError(message, 400), here);
    const sentence = 'The service cannot read this file as a table: ';
    expect(await said('table a: the file is empty')).toBe(`${sentence}the file is empty.`);
    expect(await said('table a: the file, line 3: one field.')).toBe(`${sentence}line 3: one field.`);
    expect(await describeReadError(new TapError('no answer', 0), here)).toBe('no answer');
    const gone = { filename: 'a.csv', blob: { slice: () => ({ arrayBuffer: () => Promise.reject(new Error()) }) } };
    expect(await describeReadError(new TapError('no answer', 0), gone as unknown as typeof here)).toContain(
        'changed, moved or removed',
    );
});
