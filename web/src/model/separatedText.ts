/** Rows as CSV (RFC 4180) or tab-separated text. */

import type { Cell } from './resultModel';

/** Format a value: NULL is empty, an empty text is "" in CSV. */
function writeCell(value: Cell, format: 'csv' | 'tsv'): string {
    if (value === null) return '';
    if (typeof value !== 'string') return String(value);
    if (format === 'tsv') return value.replace(/[\t\r\n]+/g, ' ');
    return value === '' || /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}

/** Format a line, with its end. */
export function writeLine(cells: readonly Cell[], format: 'csv' | 'tsv'): string {
    const words = cells.map((value) => writeCell(value, format));
    return format === 'csv' ? `${words.join(',')}\r\n` : `${words.join('\t')}\n`;
}
