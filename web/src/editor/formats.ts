/** The formats that a file or a job's result may have, by the words of RESPONSEFORMAT. */

export interface Format {
    readonly word: string;
    readonly name: string;
    /** of the file's name */
    readonly ending: string;
}

export const FORMATS: readonly Format[] = [
    { word: 'votable', name: 'VOTable', ending: 'vot' },
    { word: 'fits', name: 'FITS', ending: 'fits' },
    { word: 'csv', name: 'CSV', ending: 'csv' },
    { word: 'tsv', name: 'TSV', ending: 'tsv' },
    { word: 'parquet', name: 'Parquet', ending: 'parquet' },
    { word: 'arrow', name: 'Arrow', ending: 'arrows' },
    { word: 'ecsv', name: 'ECSV', ending: 'ecsv' },
    { word: 'votable/td', name: 'VOTable, as text', ending: 'vot' },
];

/** A name for a file, of letters that every system takes. */
export function fileName(title: string, word: string): string {
    const ending = FORMATS.find((format) => format.word === word)?.ending ?? 'dat';
    const plain = title.replace(/[^\p{L}\p{N}._-]+/gu, '_').replace(/^[._]+|_+$/g, '');
    return `${plain || 'result'}.${ending}`;
}
