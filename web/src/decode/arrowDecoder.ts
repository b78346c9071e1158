/**
 * Decodes Arrow IPC, stream or file, as the service writes it: uncompressed, little-endian, without dictionaries.
 * Values are not copied: a batch is one buffer, its columns are views of it.
 */

import type { Bytes, Numbers, ColumnPart } from '../model/columnParts';
import type { Field } from '../model/resultModel';
import type { ByteReader } from './byteReader';
import { BrokenOff } from './byteReader';
import { FlatTable } from './flatbuffer';
import { fieldFromAttributes, Unreadable, type DecodedPiece } from './decodedPiece';

const MAGIC = 'ARROW1';
const CONTINUATION = 0xffffffff;
const HEADER = { schema: 1, batch: 3 } as const;
const ABOUT = 'IVOA.VOTable-Parquet.content';

type NumberArray = new (buffer: ArrayBuffer, offset: number, length: number) => Numbers;

type Kind =
    | { type: 'number'; array: NumberArray; datatype: string }
    | { type: 'boolean'; datatype: 'boolean' }
    | { type: 'time'; datatype: 'char'; perMicro: number }
    | { type: 'text'; datatype: 'unicodeChar' }
    | { type: 'list'; datatype: string; items: Kind };

/**
 * Decode a result piece by piece. Raises Unreadable for features that the service does not use, BrokenOff inside a
 * message.
 */
export async function* decodeArrow(reader: ByteReader): AsyncGenerator<DecodedPiece> {
    const start = await reader.peekBytes(8);
    if (String.fromCharCode(...start.subarray(0, 6)) === MAGIC) await reader.takeBytes(8);
    let kinds: Kind[] | undefined;
    for (;;) {
        const message = await nextMessage(reader);
        if (!message) return;
        const [head, body] = message;
        const header = head.readTable(2);
        if (!header) throw new Unreadable('an empty message');
        if (head.readByte(1) === HEADER.schema) {
            const fields = header.readTables(1);
            const known = fields.map(kindOfField);
            kinds = known;
            const about = keyValues(header.readTables(2)).get(ABOUT) ?? '';
            yield { type: 'fields', fields: fields.map((field, at) => describeField(field, known[at]!)), about };
        } else if (head.readByte(1) === HEADER.batch) {
            // some files have their schema only at the end
            if (!kinds) throw new Unreadable('rows before their columns');
            yield* decodeBatch(header, body, kinds);
            const status = keyValues(head.readTables(4));
            const value = status.get('QUERY_STATUS');
            if (value) yield { type: 'status', value, text: status.get('QUERY_STATUS.text') ?? '' };
        } else throw new Unreadable('dictionaries');
    }
}

async function nextMessage(reader: ByteReader): Promise<[FlatTable, Bytes] | undefined> {
    const prefix = await reader.takeBytes(8);
    if (!prefix) return undefined;
    const view = new DataView(prefix.buffer);
    if (view.getUint32(0, true) !== CONTINUATION) throw new Unreadable('bytes that are not an Arrow stream');
    const length = view.getInt32(4, true);
    if (length === 0) return undefined;
    const metadata = await reader.takeBytes(length);
    if (!metadata) throw new BrokenOff();
    const head = FlatTable.rootOf(metadata);
    const size = head.readLong(3);
    const body = size ? await reader.takeBytes(size) : new Uint8Array();
    if (!body) throw new BrokenOff();
    return [head, body];
}

const keyValues = (pairs: FlatTable[]) => new Map(pairs.map((pair) => [pair.readText(0), pair.readText(1)]));

function describeField(field: FlatTable, kind: Kind): Field {
    const attributes = new Map([['name', field.readText(0)]]);
    attributes.set('datatype', kind.datatype);
    if (kind.type === 'list' || kind.type === 'text' || kind.type === 'time') attributes.set('arraysize', '*');
    if (kind.type === 'time') attributes.set('xtype', 'timestamp');
    for (const [key, value] of keyValues(field.readTables(6))) attributes.set(key, value);
    return fieldFromAttributes(attributes);
}

const INTEGERS: Record<string, [NumberArray, string]> = {
    '8': [Uint8Array, 'unsignedByte'],
    '8s': [Int8Array, 'short'],
    '16': [Uint16Array, 'int'],
    '16s': [Int16Array, 'short'],
    '32': [Uint32Array, 'long'],
    '32s': [Int32Array, 'int'],
    '64': [BigUint64Array, 'long'],
    '64s': [BigInt64Array, 'long'],
};

function kindOfField(field: FlatTable): Kind {
    if (field.hasField(4)) throw new Unreadable('dictionaries');
    const type = field.readTable(3);
    switch (field.readByte(2)) {
        case 2: {
            const found = INTEGERS[`${type?.readInt(0)}${type?.readByte(1) ? 's' : ''}`];
            if (found) return { type: 'number', array: found[0], datatype: found[1] };
            break;
        }
        case 3:
            if (type?.readShort(0) === 1) return { type: 'number', array: Float32Array, datatype: 'float' };
            if (type?.readShort(0) === 2) return { type: 'number', array: Float64Array, datatype: 'double' };
            break;
        case 5:
            return { type: 'text', datatype: 'unicodeChar' };
        case 6:
            return { type: 'boolean', datatype: 'boolean' };
        case 10:
            return { type: 'time', datatype: 'char', perMicro: [1e-6, 1e-3, 1, 1e3][type?.readShort(0) ?? 0] ?? 1 };
        case 12: {
            const items = kindOfField(field.readTables(5)[0]!);
            return { type: 'list', datatype: items.datatype, items };
        }
    }
    throw new Unreadable(`the type of the column ${field.readText(0)}`);
}

function* decodeBatch(header: FlatTable, body: Bytes, kinds: readonly Kind[]): Generator<DecodedPiece> {
    if (header.hasField(3)) throw new Unreadable('compressed batches');
    const length = header.readLong(0);
    if (!length) return;
    const layout = new BatchLayout(header.readPairs(1), header.readPairs(2), body);
    yield { type: 'rows', length, parts: kinds.map((kind) => readPart(kind, layout)) };
}

/** The nodes and buffers of a batch, read in order. */
class BatchLayout {
    #nodes: Iterator<[number, number]>;
    #buffers: Iterator<[number, number]>;
    #body: Bytes;

    constructor(nodes: [number, number][], buffers: [number, number][], body: Bytes) {
        this.#nodes = nodes.values();
        this.#buffers = buffers.values();
        this.#body = body;
    }

    nextNode(): [length: number, nulls: number] {
        const next = this.#nodes.next();
        if (next.done) throw new Unreadable('a batch without its columns');
        return next.value;
    }

    nextBytes(): Bytes {
        const next = this.#buffers.next();
        if (next.done) throw new Unreadable('a batch without its columns');
        return this.#body.subarray(next.value[0], next.value[0] + next.value[1]);
    }

    nextNumbers<A>(array: new (buffer: ArrayBuffer, offset: number, length: number) => A, length: number): A {
        const bytes = this.nextBytes();
        // columns of NULL may come without values
        return bytes.length
            ? new array(bytes.buffer, bytes.byteOffset, length)
            : new array(new ArrayBuffer(8 * length), 0, length);
    }

    /** Return the offsets of `length` values; an empty buffer means none. */
    nextOffsets(length: number): Int32Array<ArrayBuffer> {
        const bytes = this.nextBytes();
        if (!bytes.length) return new Int32Array(length + 1);
        return new Int32Array(bytes.buffer, bytes.byteOffset, length + 1);
    }
}

function readPart(kind: Kind, layout: BatchLayout): ColumnPart {
    const [length, nulls] = layout.nextNode();
    const bits = layout.nextBytes();
    const common = { length, valid: nulls && bits.length ? bits : undefined };
    switch (kind.type) {
        case 'number':
            return { ...common, type: 'number', values: layout.nextNumbers(kind.array, length) };
        case 'boolean':
            return { ...common, type: 'boolean', bits: layout.nextBytes() };
        case 'time':
            return {
                ...common,
                type: 'time',
                micros: toMicros(layout.nextNumbers(BigInt64Array, length), kind.perMicro),
            };
        case 'text':
            return { ...common, type: 'text', offsets: layout.nextOffsets(length), bytes: layout.nextBytes() };
        case 'list':
            return {
                ...common,
                type: 'list',
                offsets: layout.nextOffsets(length),
                items: readPart(kind.items, layout),
            };
    }
}

function toMicros(instants: BigInt64Array<ArrayBuffer>, perMicro: number): BigInt64Array<ArrayBuffer> {
    if (perMicro === 1) return instants;
    const [factor, divisor] = perMicro < 1 ? [BigInt(Math.round(1 / perMicro)), 1n] : [1n, BigInt(perMicro)];
    return instants.map((value) => (value * factor) / divisor);
}
