/** VOTables in TABLEDATA, which the service reads as uploads. */

import type { Cell, Field } from './resultModel';

const END = '</TABLEDATA></DATA></TABLE></RESOURCE></VOTABLE>\n';

/** Return a VOTable without rows as a file to upload: sufficient where only the columns matter. */
export function emptyVotable(fields: readonly Field[]): Blob {
    return votableFile([writeStart(fields), END]);
}

/** Return a VOTable of rows as a file to upload; `rows` are texts of `writeRow`. */
export function filledVotable(fields: readonly Field[], rows: readonly string[]): Blob {
    return votableFile([writeStart(fields), ...rows, END]);
}

const votableFile = (pieces: readonly string[]): Blob => new Blob([...pieces], { type: 'application/x-votable+xml' });

function writeStart(fields: readonly Field[]): string {
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n' +
        '<VOTABLE version="1.4" xmlns="http://www.ivoa.net/xml/VOTable/v1.3"><RESOURCE><TABLE>' +
        fields.map(fieldXml).join('') +
        '<DATA><TABLEDATA>'
    );
}

/** Write a row; NULL is an empty cell. */
export function writeRow(cells: readonly Cell[]): string {
    return `<TR>${cells.map((cell) => `<TD>${cell === null ? '' : escapeXml(String(cell))}</TD>`).join('')}</TR>`;
}

function fieldXml({ name, datatype, arraysize, xtype, unit, ucd, utype, description }: Field): string {
    const given = Object.entries({ name, datatype, arraysize, xtype, unit, ucd, utype });
    const attributes = given.flatMap(([key, value]) => (value ? [`${key}="${escapeXml(value)}"`] : []));
    const start = `<FIELD ${attributes.join(' ')}`;
    return description ? `${start}><DESCRIPTION>${escapeXml(description)}</DESCRIPTION></FIELD>` : `${start}/>`;
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

const escapeXml = (value: string): string => value.replace(/[&<>"]/g, (character) => ENTITIES[character] ?? '');
