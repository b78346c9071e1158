/** The licences of what is bundled, as they ask for it: a text file beside the build. */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Plugin } from 'vite';

const FILE = 'THIRD-PARTY-LICENSES.txt';
const HEAD = `Skyhouse's portal holds code of the packages below, each under its own licence. Skyhouse itself: see LICENSE.\n`;
const TEXTS = /^(licen[cs]e|notice|copying|copyright)/i;
/** Vite's own file goes on with what the program itself is made of: nothing of that is bundled. */
const OF_THE_TOOL = /\n# Licenses of bundled dependencies[^]*$/;
/** What the bundler writes between the modules is its own. */
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

/** A plugin for the page's build, and one for its workers', which are builds of their own before the page's end. */
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
                this.emitFile({ type: 'asset', fileName: FILE, source: written([...folders]) });
            },
        }),
    };
}

/** The folder of the package that a module is of; '' for our own. */
function folderOf(id: string): string {
    const helper = HELPERS.find(([pattern]) => pattern.test(id));
    if (helper) return join(import.meta.dirname, 'node_modules', helper[1]);
    const found = /^(.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+)/.exec(id);
    return found?.[1] ?? '';
}

function written(folders: readonly string[]): string {
    const packages = folders.map((folder) => [packageOf(folder), folder] as const);
    packages.sort(([a], [b]) => (a.name < b.name ? -1 : 1));
    return [HEAD, ...packages.map(([described, folder]) => section(described, folder))].join('\n');
}

function packageOf(folder: string): Package {
    return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Package;
}

/** One without a licence file is under the terms that its package.json names: it must name some. */
function section(described: Package, folder: string): string {
    const { name, version, license, author } = described;
    if (!license) throw new Error(`${name} has no licence`);
    const texts = existsSync(folder) ? readdirSync(folder).filter((file) => TEXTS.test(file)) : [];
    const by = typeof author === 'string' ? author : author?.name;
    const said = texts.sort().map((file) => readFileSync(join(folder, file), 'utf8').replace(OF_THE_TOOL, '').trim());
    return [`${'-'.repeat(80)}\n${name} ${version} (${license})`, ...(by ? [`by ${by}`] : []), '', ...said, ''].join(
        '\n',
    );
}
