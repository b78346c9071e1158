/** Lines of CSV. */

/** Return rows as lines of CSV (RFC 4180); NaN is empty. */
export const joinLines = (rows: (string | number)[][]) => rows.map((row) => `${row.map(quoteCsv).join(',')}\r\n`);

function quoteCsv(value: string | number): string {
    if (typeof value === 'number') return Number.isNaN(value) ? '' : String(value);
    return /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}

/** Undo the scaling, without the noise of added steps. */
export const unscaleValue = (value: number, log: boolean) => Number((log ? 10 ** value : value).toPrecision(14));
