/** Numbers with standard errors, as they are published. */

const SUPERSCRIPTS = '⁰¹²³⁴⁵⁶⁷⁸⁹';
const superscriptOf = (power: number) =>
    [...String(power)].map((sign) => (sign === '-' ? '⁻' : SUPERSCRIPTS[Number(sign)]!)).join('');
const replaceMinus = (digits: string) => digits.replace('-', '−');

/** Write a value with its error to two significant digits: "1.234 ± 0.056", "(1.23 ± 0.45)×10⁻⁷". */
export function formatMeasured(value: number, error: number): string {
    if (!Number.isFinite(error) || !Number.isFinite(value)) return `${value} ± ${error}`;
    if (error === 0) return `${replaceMinus(String(Number(value.toPrecision(10))))} ± 0`;
    const largest = Math.floor(Math.log10(Math.max(Math.abs(value), error)));
    const power = largest > 6 || largest < -3 ? largest : 0;
    const scale = 10 ** power;
    // 0.0996 has the digits 0.10
    const exponent = Math.floor(Math.log10(Number(error.toPrecision(2)) / scale) + 1e-9) - 1;
    const round = (number: number) => {
        const scaled = number / scale;
        return exponent > 0
            ? String(Math.round(scaled / 10 ** exponent) * 10 ** exponent)
            : scaled.toFixed(Math.min(100, -exponent));
    };
    const written = `${replaceMinus(round(value))} ± ${round(error)}`;
    return power === 0 ? written : `(${written})×10${superscriptOf(power)}`;
}
