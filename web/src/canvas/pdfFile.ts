/** The objects of a PDF file (ISO 32000-1) and their table of offsets. */

const encoder = new TextEncoder();

export class PdfFile {
    readonly #objects: (readonly Uint8Array<ArrayBuffer>[])[] = [];

    /** Add an object. Return the reference to it. */
    add(content: string): string {
        return this.#keep([encoder.encode(content)]);
    }

    /** Add a stream, compressed where the browser can. `entries` are the entries of its dictionary, without length and filter. */
    async addStream(entries: string, data: Uint8Array<ArrayBuffer>): Promise<string> {
        const packed = await deflate(data);
        const filter = packed ? ' /Filter /FlateDecode' : '';
        const body = packed ?? data;
        const head = `<< ${entries} /Length ${body.length}${filter} >>\nstream\n`;
        return this.#keep([encoder.encode(head), body, encoder.encode('\nendstream')]);
    }

    /** Return the whole file. `catalogue` and `information` are references. */
    write(catalogue: string, information: string): Blob {
        // the second line has bytes above 127, so that programs recognise the file as binary
        const parts = [encoder.encode('%PDF-1.7\n%'), Uint8Array.of(0xe2, 0xe3, 0xcf, 0xd3, 10)];
        let length = parts.reduce((sum, part) => sum + part.length, 0);
        const take = (part: Uint8Array<ArrayBuffer>) => {
            parts.push(part);
            length += part.length;
        };
        const offsets = this.#objects.map((object, at) => {
            const start = length;
            take(encoder.encode(`${at + 1} 0 obj\n`));
            object.forEach(take);
            take(encoder.encode('\nendobj\n'));
            return `${String(start).padStart(10, '0')} 00000 n \n`;
        });
        const table = `xref\n0 ${offsets.length + 1}\n0000000000 65535 f \n${offsets.join('')}`;
        const size = offsets.length + 1;
        const trailer = `trailer\n<< /Size ${size} /Root ${catalogue} /Info ${information} >>\nstartxref\n${length}\n%%EOF\n`;
        return new Blob([...parts, table, trailer], { type: 'application/pdf' });
    }

    #keep(object: readonly Uint8Array<ArrayBuffer>[]): string {
        return `${this.#objects.push(object)} 0 R`;
    }
}

/** Compress by zlib; undefined where the browser cannot. */
async function deflate(data: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer> | undefined> {
    if (typeof CompressionStream === 'undefined') return undefined;
    const packed = new Blob([data]).stream().pipeThrough(new CompressionStream('deflate'));
    return new Uint8Array(await new Response(packed).arrayBuffer());
}

/** Return a text string of PDF: UTF-16 in hexadecimal digits. */
export function pdfText(content: string): string {
    const units = Array.from({ length: content.length }, (_, k) => content.charCodeAt(k).toString(16).padStart(4, '0'));
    return `<feff${units.join('')}>`;
}

/** Return a number as PDF writes it: no exponent. */
export const pdfNumber = (value: number): string => String(Math.round(value * 1000) / 1000 || 0).replace(/e.*/, '');
