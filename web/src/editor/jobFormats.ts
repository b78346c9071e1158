/** The formats that the run bar offers for files and job results, by the short names of RESPONSEFORMAT. */

/** A collection of files for LSDB, which only jobs write: docs/hats.md. */
export const HATS = 'hats';

/** Return whether a run has no row limit: jobs write all rows of a collection unless a limit is given. */
export const isUnlimited = (run: { format: string; mode: string; maxrec: number | undefined }): boolean =>
    run.format === HATS && run.mode === 'async' && run.maxrec === undefined;

export const JOB_FORMATS: readonly { readonly word: string; readonly title: string }[] = [
    { word: 'votable', title: 'VOTable' },
    { word: 'fits', title: 'FITS' },
    { word: 'csv', title: 'CSV' },
    { word: 'tsv', title: 'TSV' },
    { word: 'parquet', title: 'Parquet' },
    { word: 'arrow', title: 'Arrow' },
    { word: 'ecsv', title: 'ECSV' },
    { word: 'votable/td', title: 'VOTable, as text' },
    { word: HATS, title: 'HATS (LSDB)' },
];
