/** Writes the licences of bundled packages, as they require, to a text file of the build. */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Plugin } from 'vite';

const FILE = 'THIRD-PARTY-LICENSES.txt';
const HEAD = `Skyhouse's portal holds code of the packages below, each under its own licence. Skyhouse itself: see LICENSE.\n`;
const TEXTS = /^(licen[cs]e|notice|copying|copyright)/i;
/** Vite's file continues with the licences of Vite's own dependencies, which are not bundled. */
const OF_THE_TOOL = /\n# Licenses of bundled dependencies[^]*$/;
/** Helpers that the bundler adds. */
const HELPERS: readonly (readonly [RegExp, string])[] = [
    [/^\0vite\//, 'vite'],
    [/^\0rolldown\//, 'rolldown'],
];

interface Package {
    readonly name: string;
    readonly version: string;
    readonly license: string;
    readonly author?: string | { readonly name: string };
}

/** Return a plugin for the page's build and one for the builds of its workers, which end before the page's. */
export function licences(): { page: () => Plugin; worker: () => Plugin } {
    const folders = new Set<string>();
    const collect: Plugin['generateBundle'] = (_, bundle) => {
        for (const chunk of Object.values(bundle)) {
            for (const id of chunk.type === 'chunk' ? Object.keys(chunk.modules) : []) {
                const folder = folderOf(id);
                if (folder) folders.add(folder);
            }
        }
    };
    return {
        worker: () => ({ name: 'licences-of-workers', generateBundle: collect }),
        page: () => ({
            name: 'licences',
            generateBundle(options, bundle, isWrite) {
                collect.call(this, options, bundle, isWrite);
                this.emitFile({ type: 'asset', fileName: FILE, source: writeLicences([...folders]) });
            },
        }),
    };
}

/** Return the folder of a module's package; '' for our own modules. */
function folderOf(id: string): string {
    const helper = HELPERS.find(([pattern]) => pattern.test(id));
    if (helper) return join(import.meta.dirname, 'node_modules', helper[1]);
    const found = /^(.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+)/.exec(id);
    return found?.[1] ?? '';
}

function writeLicences(folders: readonly string[]): string {
    const packages = folders.map((folder) => [packageOf(folder), folder] as const);
    packages.sort(([a], [b]) => (a.name < b.name ? -1 : 1));
    return [HEAD, ...packages.map(([described, folder]) => writeSection(described, folder))].join('\n');
}

function packageOf(folder: string): Package {
    return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Package;
}

/** A package without a licence file needs a licence in its package.json. */
function writeSection(described: Package, folder: string): string {
    const { name, version, license, author } = described;
    if (!license) throw new Error(`${name} has no licence`);
    const texts = existsSync(folder) ? readdirSync(folder).filter((file) => TEXTS.test(file)) : [];
    const by = typeof author === 'string' ? author : author?.name;
    const contents = texts
        .sort()
        .map((file) => readFileSync(join(folder, file), 'utf8').replace(OF_THE_TOOL, '').trim());
    return [
        `${'-'.repeat(80)}\n${name} ${version} (${license})`,
        ...(by ? [`by ${by}`] : []),
        '',
        ...contents,
        '',
    ].join('\n');
}
