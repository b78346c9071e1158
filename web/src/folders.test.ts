/** The rooms of the portal: a folder imports only folders below it, and no file imports itself through others. */

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { expect, test } from 'vitest';

/** From the lowest to the highest; README.md says what is in each. */
const FOLDERS = [
    ...['text', 'adql', 'browser', 'model', 'tap', 'ui'],
    ...['decode', 'expression', 'rows', 'canvas', 'sky', 'statistics'],
    ...['points', 'script', 'layers', 'table', 'plane', 'corner', 'space'].map((folder) => `plots/${folder}`),
    ...['plots', 'samp', 'jobs', 'uploads', 'account'],
    ...[
        'admin',
        'shares',
        'watches',
        'grid',
        'results',
        'tables',
        'match',
        'builder',
        'explore',
        'object',
        'home',
        'aladin',
    ],
    ...['editor', 'shell', 'pages', '.'],
];

const ROOT = import.meta.dirname;
const FILES = readdirSync(ROOT, { recursive: true, encoding: 'utf8' }).filter((path) => /\.(ts|svelte)$/.test(path));
const IMPORT = /(?:\bfrom|\bimport|new URL\(|vi\.mock\()\s*\(?\s*'(\.\.?(?:\/[^']*)?)'/g;

function resolveImport(from: string, specifier: string): string | undefined {
    const path = normalize(join(dirname(from), specifier));
    return [path, `${path}.ts`, join(path, 'index.ts')].find((candidate) => FILES.includes(candidate));
}

const IMPORTS = new Map(
    FILES.map((file) => {
        const specifiers = [...readFileSync(join(ROOT, file), 'utf8').matchAll(IMPORT)].map((found) => found[1]!);
        return [file, specifiers.flatMap((specifier) => resolveImport(file, specifier) ?? [])];
    }),
);

test('every folder has its position in the order, in README.md too', () => {
    const found = new Set(FILES.map((file) => dirname(file)));
    expect([...found].toSorted()).toEqual(FOLDERS.toSorted());
    const map = readFileSync(join(ROOT, '..', 'README.md'), 'utf8');
    const rows = [...map.matchAll(/^\| `([\w/]+)\/` /gm)].map((row) => row[1]);
    expect(rows.toReversed()).toEqual(FOLDERS.slice(0, -1));
});

test('no folder imports one above it', () => {
    const wrong = [...IMPORTS].flatMap(([file, imported]) =>
        imported
            .filter((other) => FOLDERS.indexOf(dirname(other)) > FOLDERS.indexOf(dirname(file)))
            .map((other) => `${file} imports ${other}`),
    );
    expect(wrong).toEqual([]);
});

test('no file imports itself through others', () => {
    const done = new Set<string>();
    const circles: string[] = [];
    const visit = (file: string, path: readonly string[]): void => {
        if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(' -> '));
        if (done.has(file)) return;
        done.add(file);
        for (const other of IMPORTS.get(file)!) visit(other, [...path, file]);
    };
    for (const file of FILES) visit(file, []);
    expect(circles).toEqual([]);
});

test('what is loaded later shows a way out if it cannot be loaded', () => {
    const wrong = FILES.filter((file) => !file.endsWith('.test.ts')).filter((file) => {
        const source = readFileSync(join(ROOT, file), 'utf8');
        // App.svelte gives the loaders of its table of pages to LoadedPart
        const loaders = file === 'App.svelte' ? /\w+: \(\) => import\(/g : /(?:loadPart\(|load=\{)\(\) => import\(/g;
        return source.replace(loaders, '').match(/\bimport\('/);
    });
    expect(readFileSync(join(ROOT, 'App.svelte'), 'utf8')).toMatch(/PAGES\[page\][\s\S]+<LoadedPart \{load\}/);
    expect(wrong, 'use LoadedPart, or loadPart of browser/pagePart').toEqual([]);
});

test('file names say what a file holds without its folder', () => {
    const stems = FILES.filter((file) => !/\.(test|fixture|d)\.ts$/.test(file)).map((file) =>
        relative(dirname(file), file).split('.')[0]!.toLowerCase(),
    );
    expect(stems.filter((stem, at) => stems.indexOf(stem) !== at)).toEqual([]);
});
