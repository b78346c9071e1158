/** Tables of the FlatBuffers format, as far as Arrow's messages need them. */

import type { Bytes } from '../model/columnParts';

const UTF8 = new TextDecoder();

export class FlatTable {
    #view: DataView;
    #at: number;

    constructor(view: DataView, at: number) {
        this.#view = view;
        this.#at = at;
    }

    static rootOf(bytes: Bytes): FlatTable {
        const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
        return new FlatTable(view, view.getUint32(0, true));
    }

    /** Return the position of a field's value; 0 if it has its default. */
    #fieldOffset(field: number): number {
        const directory = this.#at - this.#view.getInt32(this.#at, true);
        const slot = 4 + 2 * field;
        if (slot >= this.#view.getUint16(directory, true)) return 0;
        const offset = this.#view.getUint16(directory + slot, true);
        return offset && this.#at + offset;
    }

    readByte(field: number, otherwise = 0): number {
        const at = this.#fieldOffset(field);
        return at ? this.#view.getUint8(at) : otherwise;
    }

    readShort(field: number, otherwise = 0): number {
        const at = this.#fieldOffset(field);
        return at ? this.#view.getInt16(at, true) : otherwise;
    }

    readInt(field: number, otherwise = 0): number {
        const at = this.#fieldOffset(field);
        return at ? this.#view.getInt32(at, true) : otherwise;
    }

    readLong(field: number): number {
        const at = this.#fieldOffset(field);
        return at ? Number(this.#view.getBigInt64(at, true)) : 0;
    }

    hasField(field: number): boolean {
        return this.#fieldOffset(field) !== 0;
    }

    readTable(field: number): FlatTable | undefined {
        const at = this.#fieldOffset(field);
        return at ? new FlatTable(this.#view, at + this.#view.getUint32(at, true)) : undefined;
    }

    readText(field: number): string {
        const at = this.#fieldOffset(field);
        if (!at) return '';
        const start = at + this.#view.getUint32(at, true);
        const length = this.#view.getUint32(start, true);
        return UTF8.decode(new Uint8Array(this.#view.buffer, this.#view.byteOffset + start + 4, length));
    }

    readTables(field: number): FlatTable[] {
        const [start, length] = this.#vectorAt(field);
        return Array.from({ length }, (_, index) => {
            const at = start + 4 * index;
            return new FlatTable(this.#view, at + this.#view.getUint32(at, true));
        });
    }

    /** Read a vector of structs of two 64-bit integers. */
    readPairs(field: number): [number, number][] {
        const [start, length] = this.#vectorAt(field);
        const long = (at: number) => Number(this.#view.getBigInt64(at, true));
        return Array.from({ length }, (_, index) => [long(start + 16 * index), long(start + 16 * index + 8)]);
    }

    #vectorAt(field: number): [start: number, length: number] {
        const at = this.#fieldOffset(field);
        if (!at) return [0, 0];
        const start = at + this.#view.getUint32(at, true);
        return [start + 4, this.#view.getUint32(start, true)];
    }
}
