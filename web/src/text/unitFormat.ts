/** Units as VOUnits write them, and as people read them. */

/** A unit within a product, and its power. */
export interface UnitFactor {
    readonly name: string;
    readonly power: number;
}

const FACTOR = /^([A-Za-z%'"]+|10(?=\*\*))(?:\*\*\(?([+-]?\d+(?:\.\d+)?)\)?)?/;

const RAISED: Record<string, string> = Object.fromEntries(
    [...'0123456789-+'].map((sign, k) => [sign, '⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺'[k]!]),
);

/**
 * Read a VOUnit as a product of powers: "km.s**-1" as km¹ s⁻¹. Undefined for units
 * with functions or groups, which this page does not parse.
 */
export function unitFactors(unit: string): UnitFactor[] | undefined {
    const factors: UnitFactor[] = [];
    let [rest, sign] = [unit.trim(), 1];
    while (rest) {
        const found = FACTOR.exec(rest);
        if (!found) return undefined;
        factors.push({ name: found[1]!, power: sign * Number(found[2] ?? 1) });
        rest = rest.slice(found[0].length);
        const separator = /^\s*(?:([./])|\*(?!\*))\s*|^\s+/.exec(rest);
        if (rest && (!separator || separator[0].length === rest.length)) return undefined;
        // a slash inverts the factor behind it alone
        sign = separator?.[1] === '/' ? -1 : 1;
        rest = rest.slice(separator?.[0].length ?? 0);
    }
    return factors;
}

const raise = (power: number): string =>
    power === 1
        ? ''
        : Number.isInteger(power)
          ? [...String(power)].map((sign) => RAISED[sign]).join('')
          : `^${String(power)}`;

/** Format a VOUnit for reading: "mas.yr**-1" as "mas/yr", "erg.s**-1.cm**-2" as "erg/s/cm²", "s**-1" as "s⁻¹". */
export function formatUnit(unit: string): string {
    const factors = unitFactors(unit);
    if (!factors) return unit;
    const isBelow = ({ name, power }: UnitFactor) => power < 0 && name !== '10';
    const above = factors.filter((factor) => !isBelow(factor)).map(({ name, power }) => name + raise(power));
    if (!above.length) return factors.map(({ name, power }) => name + raise(power)).join(' ');
    const below = factors.filter(isBelow).map(({ name, power }) => `/${name}${raise(-power)}`);
    return above.join(' ') + below.join('');
}
