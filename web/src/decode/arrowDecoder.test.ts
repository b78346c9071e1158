import {
    Bool,
    Field,
    Float32,
    Float64,
    Int16,
    Int32,
    Int64,
    List,
    RecordBatchStreamWriter,
    Schema,
    Table,
    TimestampMicrosecond,
    Uint8,
    Utf8,
    tableFromIPC,
    tableToIPC,
    vectorFromArray,
} from 'apache-arrow';
import { expect, test } from 'vitest';
import { readCell } from '../model/columnParts';
import type { Cell } from '../model/resultModel';
import { ColumnStore } from '../model/columnStore';
import { decodeArrow } from './arrowDecoder';
import { ByteReader } from './byteReader';
import type { DecodedPiece } from './decodedPiece';
import { streamOf } from './streams.fixture';

async function read(bytes: Uint8Array, size?: number): Promise<{ store: ColumnStore; pieces: DecodedPiece[] }> {
    const store = new ColumnStore();
    const pieces: DecodedPiece[] = [];
    for await (const piece of decodeArrow(new ByteReader(streamOf(bytes, size)))) {
        pieces.push(piece);
        if (piece.type === 'fields') store.setFields(piece.fields);
        if (piece.type === 'rows') store.addBatch(piece.length, piece.parts);
    }
    return { store, pieces };
}

const COLUMNS = {
    id: vectorFromArray([9007199254740993n, null, -5n], new Int64()),
    name: vectorFromArray(['Vega', '', null], new Utf8()),
    greek: vectorFromArray(['α Lyr', 'β', 'z'], new Utf8()),
    mag: vectorFromArray([0.03, null, 1.18], new Float32()),
    ra: vectorFromArray([279.23473479, NaN, 0], new Float64()),
    flag: vectorFromArray([true, false, null], new Bool()),
    byte: vectorFromArray([255, 0, null], new Uint8()),
    short: vectorFromArray([-32768, null, 7], new Int16()),
    int: vectorFromArray([1, 2, 3], new Int32()),
    // apache-arrow takes milliseconds
    time: vectorFromArray([1451606400250, null, -1], new TimestampMicrosecond()),
    point: vectorFromArray([[279.2, 38.7], null, [1, NaN]], new List(new Field('item', new Float64()))),
};
const ROWS: Cell[][] = [
    [
        9007199254740993n,
        'Vega',
        'α Lyr',
        0.03,
        279.23473479,
        true,
        255,
        -32768,
        1,
        '2016-01-01T00:00:00.25',
        '279.2 38.7',
    ],
    [null, '', 'β', null, NaN, false, 0, null, 2, null, null],
    [-5n, null, 'z', 1.18, 0, null, null, 7, 3, '1969-12-31T23:59:59.999', '1 NaN'],
];

/** A file of Arrow is a stream between a magic word and a footer. */
const file = (stream: Uint8Array) => Buffer.concat([Buffer.from('ARROW1\0\0'), stream, Buffer.from('footerARROW1')]);

test.each([
    ['stream', 1],
    ['stream', 7],
    ['stream', 1_000_000],
    ['file', 64],
] as const)('a %s in pieces of %d bytes is read as apache-arrow has written it', async (form, size) => {
    const stream = tableToIPC(new Table(COLUMNS), 'stream');
    expect(tableFromIPC(stream).numRows).toBe(3);
    const bytes = form === 'file' ? file(stream) : stream;
    const { store } = await read(bytes, size);
    expect(store.fields.map((field) => field.kind)).toEqual([
        ...['number', 'text', 'text', 'number', 'number', 'boolean', 'number', 'number', 'number', 'time', 'array'],
    ]);
    const all = [...store.fields.keys()];
    expect([0, 1, 2].map((row) => store.readRow(row, all))).toEqual(ROWS);
});

test('batches follow each other, an empty one is none', async () => {
    const one = (values: number[]) => new Table({ x: vectorFromArray(values, new Float64()) });
    const writer = new RecordBatchStreamWriter();
    for (const values of [[1, 2], [], [3]]) for (const batch of one(values).batches) writer.write(batch);
    const { store, pieces } = await read(writer.finish().toUint8Array(true), 5);
    expect(pieces.filter((piece) => piece.type === 'rows')).toHaveLength(2);
    expect([...store.readNumbers(0)]).toEqual([1, 2, 3]);
});

test('columns say what they are in the metadata of their fields', async () => {
    const said = { datatype: 'double', unit: 'deg', ucd: 'pos.eq.ra', description: 'Right ascension' };
    const schema = new Schema([new Field('ra', new Float64(), true, new Map(Object.entries(said)))]);
    const table = new Table(schema, { ra: vectorFromArray([1], new Float64()) });
    const { store } = await read(tableToIPC(table, 'stream'));
    expect(store.fields).toEqual([{ name: 'ra', kind: 'number', ...said }]);
});

test('a stream that ends within a message is broken off', async () => {
    const bytes = tableToIPC(new Table(COLUMNS), 'stream');
    await expect(read(bytes.subarray(0, bytes.length - 40))).rejects.toMatchObject({ name: 'BrokenOff' });
});

test('what the service never writes is refused', async () => {
    const dictionary = tableToIPC(new Table({ x: vectorFromArray(['a', 'b']) }), 'stream');
    await expect(read(dictionary)).rejects.toMatchObject({ name: 'Unreadable', message: 'dictionaries' });
    const schemaless = tableToIPC(new Table(COLUMNS), 'file');
    await expect(read(schemaless)).rejects.toMatchObject({ message: 'rows before their columns' });
    await expect(read(new TextEncoder().encode('id,name\n1,Vega\n'))).rejects.toMatchObject({ name: 'Unreadable' });
});

test('a part gives one value', async () => {
    const { pieces } = await read(tableToIPC(new Table(COLUMNS), 'stream'));
    const rows = pieces.find((piece) => piece.type === 'rows');
    expect(rows?.type === 'rows' && readCell(rows.parts[1]!, 0)).toBe('Vega');
});
