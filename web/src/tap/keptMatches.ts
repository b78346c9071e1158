/** The service's kept matches: tables of pairs of rows of two tables near each other. */

import { askService } from './tapRequest';

export interface KeptMatch {
    /** names of tables and columns are as ADQL writes them */
    readonly table: string;
    readonly left: KeptSide;
    readonly right: KeptSide;
    /** all pairs; the nearest partner of each left row; or pairs that are each other's nearest */
    readonly kind: 'all' | 'best' | 'mutual';
    /** arcseconds */
    readonly radius: number;
    /** whether its pairs are up to date with its tables */
    readonly isCurrent: boolean;
}

export interface KeptSide {
    readonly table: string;
    /** columns of the match, and the columns to which they refer */
    readonly ids: readonly { readonly column: string; readonly refersTo: string }[];
    /** of the positions: a year or a column of years; null if no proper motion is applied */
    readonly epoch: number | string | null;
}

/** Load the kept matches. Raises TapError. */
export async function loadKeptMatches(): Promise<readonly KeptMatch[]> {
    const answer = await askService('matches');
    return ((await answer.json()) as { matches: readonly KeptMatch[] }).matches;
}
