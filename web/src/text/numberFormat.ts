/** Numbers, sizes and durations as the portal writes them. */

const NUMBER = new Intl.NumberFormat('en');

/** An integer with thousands separators. */
export const formatCount = (value: number): string => NUMBER.format(value);

/** "1 row", "2 rows". */
export const formatCounted = (value: number, one: string, many = `${one}s`): string =>
    `${formatCount(value)} ${value === 1 ? one : many}`;

/** Bytes in a suitable unit. */
export function formatBytes(bytes: number): string {
    const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];
    const power = bytes < 1 ? 0 : Math.min(Math.floor(Math.log10(bytes) / 3), units.length - 1);
    return `${(bytes / 1000 ** power).toPrecision(3).replace(/\.0+$/, '')} ${units[power]}`;
}

/** Seconds as text: "0.2 s", "3 min 20 s", "2 h 5 min". */
export function formatDuration(seconds: number): string {
    if (seconds < 60) return `${seconds < 10 ? Math.round(seconds * 10) / 10 : Math.round(seconds)} s`;
    const [whole, minutes] = [Math.round(seconds), Math.floor(Math.round(seconds) / 60)];
    return minutes < 60 ? `${minutes} min ${whole % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
