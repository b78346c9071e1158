import { counted } from './index';

export const results = {
    workerFailed: (why: string) => `The page could not read the result${why && ` (${why})`}. Try again.`,
    stopped: (rows: number) => `You stopped it: these are the first ${counted(rows, 'row')}, not the whole result.`,
    failures: {
        stopped: 'You stopped it before the first row came.',
        unreadable: (what: string) => `The page cannot read this result: it has ${what}.`,
        brokenOff: (rows: number) =>
            `The connection broke off after ${counted(rows, 'row')}: this is not the whole result. Run it again; ` +
            'if it takes long, run it as a job.',
        memory: (rows: number) =>
            `The browser has no memory for more than ${counted(rows, 'row')}. Ask for fewer rows or columns, ` +
            'or download the result.',
        noTable: 'This file is no table that can be read.',
    },
} as const;
