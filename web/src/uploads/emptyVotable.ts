/** A VOTable without rows: sufficient where only the columns matter. */

import type { Field } from '../model/resultModel';

/** Return the VOTable as a file to upload. */
export function emptyVotable(fields: readonly Field[]): Blob {
    return new Blob([writeVotable(fields)], { type: 'application/x-votable+xml' });
}

export function writeVotable(fields: readonly Field[]): string {
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n' +
        '<VOTABLE version="1.4" xmlns="http://www.ivoa.net/xml/VOTable/v1.3"><RESOURCE><TABLE>' +
        fields.map(fieldXml).join('') +
        '<DATA><TABLEDATA></TABLEDATA></DATA></TABLE></RESOURCE></VOTABLE>\n'
    );
}

function fieldXml({ name, datatype, arraysize, xtype, unit, ucd }: Field): string {
    const given = Object.entries({ name, datatype, arraysize, xtype, unit, ucd });
    const attributes = given.flatMap(([key, value]) => (value ? [`${key}="${escapeXml(value)}"`] : []));
    return `<FIELD ${attributes.join(' ')}/>`;
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

const escapeXml = (value: string): string => value.replace(/[&<>"]/g, (character) => ENTITIES[character] ?? '');
