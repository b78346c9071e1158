import { inflateSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { PdfFile, pdfNumber, pdfText } from './pdfFile';
import { splitRuns } from './pdfFonts';
import { pdfPen } from './pdfPen';

const glyphs = {
    measure: (characters: string, size: number) => characters.length * size,
    draw: () => canvasOf(2, 1, [255, 0, 0, 255, 0, 0, 255, 128]),
};

function canvasOf(width: number, height: number, pixels: readonly number[]): HTMLCanvasElement {
    const context = { getImageData: () => ({ data: Uint8ClampedArray.from(pixels) }) };
    return { width, height, getContext: () => context } as unknown as HTMLCanvasElement;
}

/** Read a file's objects by the positions in its table, and unpack their streams, as readers do. */
async function readPdf(file: Blob): Promise<{ objects: string[]; content: string; trailer: string }> {
    const bytes = new Uint8Array(await file.arrayBuffer());
    const latin = Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');
    const table = Number(/startxref\n(\d+)\n%%EOF\n$/.exec(latin)![1]);
    const [, count] = /^xref\n0 (\d+)\n0000000000 65535 f \n/.exec(latin.slice(table))!;
    const entries = [...latin.slice(table).matchAll(/^(\d{10}) 00000 n $/gm)].map(([, position]) => Number(position));
    expect(entries).toHaveLength(Number(count) - 1);
    const objects = entries.map((position, at) => {
        expect(latin.slice(position)).toMatch(new RegExp(`^${at + 1} 0 obj\n`));
        return latin.slice(position, latin.indexOf('\nendobj\n', position));
    });
    const unpacked = objects.map((object) => {
        const stream = /\/Length (\d+) \/Filter \/FlateDecode >>\nstream\n/.exec(object);
        if (!stream) return object;
        const start = stream.index + stream[0].length;
        const data = object.slice(start, start + Number(stream[1]));
        expect(object.slice(start + data.length)).toBe('\nendstream');
        const packed = Uint8Array.from(data, (sign) => sign.charCodeAt(0));
        return object.slice(0, start) + inflateSync(packed).toString('latin1');
    });
    const content = unpacked.find((object) => /stream\n0\.75 0 0 -0\.75/.test(object))!;
    return { objects: unpacked, content, trailer: latin.slice(latin.indexOf('trailer')) };
}

const draw = async (paint: (pen: ReturnType<typeof pdfPen>) => void) => {
    const pen = pdfPen(400, 200, glyphs);
    paint(pen);
    return readPdf(await pen.write('A − B'));
};

test('a page has its size in points, its objects where the table says, and a title', async () => {
    const { objects, content, trailer } = await draw((pen) => pen.fill(0, 0, 400, 200, 'rgb(255, 0, 51)'));
    expect(content).toContain('1 0 0.2 rg 0 0 400 200 re f');
    const page = objects.find((object) => object.includes('/Type /Page '))!;
    expect(page).toContain('/MediaBox [0 0 300 150]');
    const parent = Number(/\/Parent (\d+) 0 R/.exec(page)![1]);
    expect(objects[parent - 1]).toContain('/Type /Pages');
    const root = Number(/\/Root (\d+) 0 R/.exec(trailer)![1]);
    expect(objects[root - 1]).toContain(`/Pages ${parent} 0 R`);
    expect(objects.join()).toContain(`/Title ${pdfText('A − B')}`);
});

test('lines are paths, discs are round, opacities are states, boxes clip', async () => {
    const { objects, content } = await draw((pen) => {
        pen.line([1, 2, 3.14159, 4, 5, 6], 'rgb(0, 0, 0)', 2);
        pen.within(
            { left: 1, top: 2, width: 3, height: 4 },
            () =>
            pen.discs({ x: [7, 8], y: [9, 10], count: 2, radius: 1.5, colours: ['rgb(0 0 0)', 'rgb(0 255 0)'], shades: [1, 0], opacity: 0.4 }), // prettier-ignore
        );
    });
    expect(content).toContain('0 0 0 RG 2 w 1 2 m 3.142 4 l 5 6 l S');
    expect(content).toMatch(
        /q 1 2 3 4 re W n\nq\n\/A40 gs\nq 1 J 0 0 0 RG 3 w\n0 1 0 RG\n7 9 m 7 9 l S\n0 0 0 RG\n8 10 m/,
    );
    expect(objects.join()).toContain('/A40 << /CA 0.4 /ca 0.4 >>');
    expect(content.match(/\bq\b/g)).toHaveLength(content.match(/\bQ\b/g)!.length);
});

test('images keep their pixels and their transparency', async () => {
    const { objects } = await draw((pen) => pen.image(canvasOf(2, 1, [1, 2, 3, 255, 4, 5, 6, 0]), 0, 0, 10, 5));
    const colours = objects.find((object) => object.includes('/DeviceRGB'))!;
    expect(colours.slice(colours.indexOf('stream\n') + 7)).toBe('\x01\x02\x03\x04\x05\x06');
    const mask = objects[Number(/\/SMask (\d+) 0 R/.exec(colours)![1]) - 1]!;
    expect(mask.slice(mask.indexOf('stream\n') + 7)).toBe('\xff\0');
});

test('texts are set in Helvetica and Symbol, and can be copied as they were', async () => {
    const { content } = await draw((pen) => {
        pen.text('Δ 5−3 °', 10, 20, { colour: 'rgb(0, 0, 0)', align: 'right' });
        pen.text('星', 10, 40, { colour: 'rgb(0, 0, 0)' });
    });
    expect(content).toContain(`/ActualText ${pdfText('Δ 5−3 °')}`);
    expect(content).toContain('<44> Tj');
    expect(content).toContain('<2d> Tj');
    expect(content).toContain('<3320b0> Tj');
    // no font has it: it is a picture
    expect(content).toMatch(/\/I0 Do/);
});

test('runs: raised digits are small, widths follow the fonts', () => {
    const [plain, raised] = splitRuns('10⁻⁶');
    expect(plain).toMatchObject({ font: 'Helvetica', bytes: [0x31, 0x30], scale: 1, rise: 0 });
    expect(raised).toMatchObject({ font: 'Symbol', bytes: [0x2d] });
    expect(splitRuns('10⁶')[1]).toMatchObject({ font: 'Helvetica', bytes: [0x36], scale: 0.65 });
    expect(splitRuns('Wide…')[0]).toMatchObject({ bytes: [87, 105, 100, 101, 0x85] });
    expect((splitRuns('Wide…')[0] as { width: number }).width).toBeCloseTo(0.944 + 0.222 + 0.556 + 0.556 + 1);
    expect(pdfPen(1, 1, glyphs).measure('αW', 10)).toBeCloseTo(6.31 + 9.44);
});

test('numbers have no exponents', () => {
    expect([1e-9, -0, 123456.789123, 0.1 + 0.2].map(pdfNumber)).toEqual(['0', '0', '123456.789', '0.3']);
});

test('what is added is found by its reference', async () => {
    const file = new PdfFile();
    const first = file.add('<< /A 1 >>');
    const { objects } = await readPdf(file.write(file.add(`<< /B ${first} >>`), first));
    expect(objects).toEqual(['1 0 obj\n<< /A 1 >>', '2 0 obj\n<< /B 1 0 R >>']);
});
