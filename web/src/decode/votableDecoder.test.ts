import { expect, test } from 'vitest';
import type { Cell } from '../model/resultModel';
import { ColumnStore } from '../model/columnStore';
import { Base64Decoder } from './base64Decoder';
import { ByteReader } from './byteReader';
import { decodeResult } from './decodeResult';
import type { DecodedPiece } from './decodedPiece';
import { streamOf } from './streams.fixture';

const FIELDS = `<FIELD name="id" datatype="long" ucd="meta.id;meta.main"/>
<FIELD name="a &lt; b" datatype="char" arraysize="*"><DESCRIPTION>It&apos;s a &amp; b</DESCRIPTION></FIELD>
<FIELD name="mag" datatype="float" unit="mag"><DESCRIPTION>Magnitude</DESCRIPTION></FIELD>
<FIELD name="ok" datatype="boolean"/>
<FIELD name="t" datatype="char" arraysize="*" xtype="timestamp"/>
<FIELD name="p" datatype="double" arraysize="2" xtype="point"/>
<FIELD name="greek" datatype="unicodeChar" arraysize="*"/>
<FIELD name="code" datatype="char" arraysize="3"/>
<FIELD name="n" datatype="int"><VALUES null="-1"/></FIELD>`;

function text(value: string): number[] {
    return [0, 0, 0, value.length, ...[...value].map((letter) => letter.charCodeAt(0))];
}

function bytesOf(array: BigInt64Array | Float32Array | Float64Array | Int32Array): number[] {
    const view = [...new Uint8Array(array.buffer)];
    const size = array.BYTES_PER_ELEMENT;
    return Array.from({ length: array.length }, (_, at) => view.slice(at * size, (at + 1) * size).reverse()).flat();
}

const ROW = [
    ...bytesOf(BigInt64Array.of(9007199254740993n)),
    ...text('Vega'),
    ...bytesOf(Float32Array.of(0.03)),
    84,
    ...text('2016-01-01T00:00:00.250'),
    ...bytesOf(Float64Array.of(279.2, 38.7)),
    ...[0, 0, 0, 2, 0x03, 0xb1, 0, 0x21],
    ...[65, 48, 0],
    ...bytesOf(Int32Array.of(-1)),
];
const EMPTY = [
    ...Array.from({ length: 8 }, () => 0),
    ...text(''),
    ...bytesOf(Float32Array.of(NaN)),
    0,
    ...text(''),
    ...bytesOf(Float64Array.of(NaN, NaN)),
    ...[0, 0, 0, 0],
    ...[0, 0, 0],
    ...bytesOf(Int32Array.of(5)),
];

function document(kind: 'BINARY' | 'BINARY2', bytes: number[], after = ''): Uint8Array {
    const data = Buffer.from(bytes).toString('base64').replace(/.{60}/g, '$&\n');
    return new TextEncoder().encode(`<?xml version="1.0"?><!-- <FIELD name="no"/> -->
<VOTABLE version="1.4" xmlns="http://www.ivoa.net/xml/VOTable/v1.3"><RESOURCE type="results">
<INFO name="QUERY_STATUS" value="OK"/><TABLE>${FIELDS}<DATA><${kind}><STREAM encoding="base64">
${data}
</STREAM></${kind}></DATA></TABLE>${after}</RESOURCE></VOTABLE>`);
}

async function read(
    bytes: Uint8Array,
    size?: number,
): Promise<{ store: ColumnStore; status: DecodedPiece | undefined }> {
    const store = new ColumnStore();
    let status: DecodedPiece | undefined;
    for await (const piece of decodeResult(new ByteReader(streamOf(bytes, size)))) {
        if (piece.type === 'fields') store.setFields(piece.fields);
        if (piece.type === 'rows') store.addBatch(piece.length, piece.parts);
        if (piece.type === 'status') status = piece;
    }
    return { store, status };
}

const VEGA: Cell[] = [9007199254740993n, 'Vega', 0.03, true, '2016-01-01T00:00:00.25', '279.2 38.7', 'α!', 'A0', -1];

test.each([1, 3, 50, 1_000_000])('BINARY2 in pieces of %d bytes', async (size) => {
    const nulls = [0xff, 0];
    const bytes = document('BINARY2', [...[0, 0], ...ROW, ...nulls, ...EMPTY, ...[0, 0], ...ROW]);
    const { store, status } = await read(bytes, size);
    const all = [...store.fields.keys()];
    expect([0, 1, 2].map((row) => store.readRow(row, all))).toEqual([VEGA, [...Array(8).fill(null), 5], VEGA]);
    expect(status).toEqual({ type: 'status', value: 'OK', text: '' });
});

test('BINARY has no flags: values stand for NULL', async () => {
    const { store } = await read(document('BINARY', [...ROW, ...EMPTY]));
    const all = [...store.fields.keys()];
    expect(store.readRow(0, all)).toEqual([...VEGA.slice(0, 8), null]);
    expect(store.readRow(1, all)).toEqual([0n, null, null, null, null, 'NaN NaN', null, null, 5]);
});

test('fields have their attributes, unescaped, and the descriptions within them', async () => {
    const { store } = await read(document('BINARY2', []));
    expect(store.fields[1]).toMatchObject({ name: 'a < b', description: "It's a & b", kind: 'text' });
    expect(store.fields[2]).toMatchObject({ unit: 'mag', description: 'Magnitude', datatype: 'float' });
    expect(store.fields.map((field) => field.kind)).toEqual([
        ...['number', 'text', 'number', 'boolean', 'time', 'array', 'text', 'text', 'number'],
    ]);
});

test('the status after the rows is the one that counts', async () => {
    const after = '<INFO name="QUERY_STATUS" value="OVERFLOW">cut at 2 &lt; 3 rows</INFO>';
    const { status } = await read(document('BINARY2', [0, 0, ...ROW], after));
    expect(status).toEqual({ type: 'status', value: 'OVERFLOW', text: 'cut at 2 < 3 rows' });
});

test('a document without its end, or with half a row, has no status', async () => {
    const bytes = document('BINARY2', [0, 0, ...ROW]);
    expect((await read(bytes.subarray(0, bytes.length - 30))).status).toBeUndefined();
    const half = await read(document('BINARY2', [0, 0, ...ROW, 0, 0, ...ROW.slice(0, 20)]));
    expect([half.store.rows, half.status]).toEqual([1, undefined]);
});

test.each([
    ['<VOTABLE><RESOURCE><TABLE><DATA><TABLEDATA></TABLEDATA></DATA></TABLE></RESOURCE></VOTABLE>', 'TABLEDATA'],
    ['<html><body>Not found</body></html>', 'no VOTable'],
    ['id,name\n1,Vega\n', 'format'],
    ['', 'format'],
])('the service has to read %s', async (said, why) => {
    await expect(read(new TextEncoder().encode(said))).rejects.toThrow(why);
});

test('base64 of any length comes in any pieces', () => {
    for (const length of [0, 1, 2, 3, 100]) {
        const bytes = Uint8Array.from({ length }, (_, at) => (at * 37) & 255);
        const text = new TextEncoder().encode(`\n${Buffer.from(bytes).toString('base64')}\n</STREAM>`);
        for (const size of [1, 2, 5, 1000]) {
            const base64 = new Base64Decoder();
            const found = new Uint8Array(200);
            let end = 0;
            for (let at = 0; at < text.length && !base64.ended; at += size)
                ({ end } = base64.decodeText(text.slice(at, at + size), found, end));
            expect(found.slice(0, end)).toEqual(bytes);
        }
    }
});
