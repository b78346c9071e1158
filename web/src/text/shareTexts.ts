import { formatCounted } from './numberFormat';

const one = (names: readonly string[], single: string, several: string): string =>
    names.length === 1 ? single : several;

export const shareTexts = {
    title: 'Shared results',
    open: 'Cite',
    openHelp: 'Give this result a permanent link, and cite it',
    make: {
        title: 'Permanent link',
        what: 'The service keeps the query, its rows, the versions of its tables and a checksum under a permanent link that you can cite. To do so, it runs the query again.',
        name: 'Title',
        nameHint: 'Nearby stars with planets',
        note: 'Note',
        noteHint: 'For readers: which figure it is, how it was made …',
        named: (user: string) => `Readers see my name (${user})`,
        public: 'Everyone who can see the tables of the query can read the share.',
        query: 'Query that becomes permanent',
        files: 'Files that the query reads',
        leftOut:
            'The query, its row limit or its files have changed since this result was computed: a file is included only if you tick it.',
        uploads: (names: readonly string[]) =>
            `The share includes the uploaded ${one(names, 'file', 'files')} ${names.join(', ')}: everyone who can read the share can download ${one(names, 'it', 'them')}.`,
        omitted: (names: readonly string[]) =>
            `If ${names.join(', ')} ${one(names, 'is', 'are')} left out, readers see the query and, as long as they are kept, its rows. They cannot run it again: only someone who has the ${one(names, 'file', 'files')} can verify the rows.`,
        cut: 'The row limit has cut this result. When the query runs again, it may return different rows: raise the limit, or sort by a unique column.',
        submit: 'Create permanent link',
        running: 'Running the query and computing the checksum …',
        stop: 'Stop',
        made: 'The link is permanent.',
        page: 'Open its page',
    },
    address: 'Permanent link',
    copyAddress: 'Copy link',
    checksum: 'Checksum of the rows (SHA-256)',
    copyChecksum: 'Copy checksum',
    tables: 'Tables',
    result: 'Result',
    asOf: (instant: string) => `as of ${instant}`,
    unknownVersion: 'version unknown',
    rows: (rows: number, cut: boolean) => formatCounted(rows, 'row') + (cut ? ', cut at the row limit' : ''),
    kept: (until: string) => `Kept until ${until}.`,
    rowsKept: (until: string) => `Its rows are kept until ${until}.`,
    rowsGone: 'Its rows are no longer kept: run the query again, and compare the checksum.',
    cite: {
        title: 'Cite it',
        caption: 'For a caption',
        copyCaption: 'Copy caption',
        bibtex: 'BibTeX: the share, and what its tables ask you to cite',
        copyBibtex: 'Copy BibTeX',
    },
    caption: (service: string, rows: number, tables: string, url: string, checksum: string) =>
        `Data: ${formatCounted(rows, 'row')}${tables && ` of ${tables}`}, ${service}, ${url} (SHA-256 ${checksum}…).`,
    page: {
        made: (day: string, who: string | null) => `Created on ${day}${who ? ` by ${who}` : ''}.`,
        untitled: 'Shared result',
        query: 'Query',
        show: 'Show the rows as they were',
        edit: 'Open the query',
        delete: 'Delete',
        deleteTitle: 'Delete this share',
        deleteSure: 'Its link will stop working, even where it is cited. This cannot be undone.',
        deleteNow: 'Delete it',
        gone: 'The share has been deleted.',
        limit: (rows: string) => `Row limit ${rows}.`,
        uploads: 'Uploaded with the query',
        omitted: (names: readonly string[]) =>
            `The query also reads ${names.join(', ')}, which ${one(names, 'is', 'are')} not included here. To run it again, ask the author for the missing ${one(names, 'file', 'files')}.`,
    },
    verify: {
        title: 'Has it changed?',
        noTables: 'The query reads only its uploads, which are kept with it.',
        noOtherTables: 'The query reads only uploads.',
        omitted: (names: readonly string[]) =>
            `Only someone who has ${names.join(', ')}, which ${one(names, 'is', 'are')} not included here, can run the query again and compare the checksum.`,
        checking: 'Comparing the tables …',
        same: 'The tables have not changed since.',
        changed: (names: string) => `Changed since: ${names}.`,
        gone: (name: string) => `${name} (deleted)`,
        now: (name: string, instant: string) => `${name} (on ${instant})`,
        run: 'Verify',
        runHelp: 'Run the query again and compare the checksum of its rows',
        running: 'Running the query again …',
        equal: (rows: number) =>
            `The query returns exactly these ${formatCounted(rows, 'row')} today: the checksums are equal.`,
        different: (then: number, now: number) =>
            `The query returns different rows today: ${formatCounted(now, 'row')}, compared with ${formatCounted(then, 'row')} then. The checksums differ.`,
        why: {
            changed: 'Its tables have changed.',
            cut: 'The row limit cuts the result, and a different selection of rows may remain.',
            open: 'The tables are the same: sums of floating-point numbers, TOP without a unique ORDER BY, or random numbers may be the reason.',
        },
        found: (checksum: string) => `Checksum today: ${checksum}`,
    },
    list: {
        title: 'Your shares',
        what: 'Results with a permanent link. Create one with “Cite” next to a result.',
        here: 'Shares created in this browser without signing in are listed only here. From anywhere else, only an administrator can delete them.',
        none: 'You have no shares yet.',
        created: (day: string) => `created on ${day}`,
        deleteNamed: (title: string) => `Delete ${title}`,
        all: 'Your shares',
        link: 'Shared results',
    },
} as const;
