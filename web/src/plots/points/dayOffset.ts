/** Times in days that may be dates. */

/** Return the offset from MJD of times in days that may be dates: MJD from 1858 to 2270, or JD. */
export function epochOf(first: number): number | undefined {
    if (first > 2_400_000 && first < 2_600_000) return 2_400_000.5;
    return first > 10_000 && first < 150_000 ? 0 : undefined;
}
