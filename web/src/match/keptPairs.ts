/** What a match of two tables can read from a kept match. */

import { areSameNames } from '../adql/adqlNames';
import type { KeptMatch } from '../tap/keptMatches';
import type { KeptPairs, Match } from './matchQuery';

/** Return the kept matches that have followed both tables. */
export function findKeptPairs(matches: readonly KeptMatch[], first: string, second: string): readonly KeptPairs[] {
    return matches.flatMap((match) => {
        const has = (left: string, right: string) =>
            areSameNames(match.left.table, left) && areSameNames(match.right.table, right);
        const isTurned = has(second, first);
        return match.isCurrent && (isTurned || has(first, second)) ? [{ match, isTurned }] : [];
    });
}

/** Return which partners a kept match has, as it is turned; none if it is of no use. */
export function listKeptChoices({ match, isTurned }: KeptPairs): readonly Match['choice'][] {
    if (match.kind === 'mutual') return ['mutual'];
    if (isTurned) return match.kind === 'all' ? ['all'] : [];
    return match.kind === 'all' ? ['nearest', 'all'] : ['nearest'];
}

/** Return which rows a kept match tells; mutual pairs do not tell which rows have no partner. */
export function listKeptKeeps({ match }: KeptPairs): readonly Match['keep'][] {
    return match.kind === 'mutual' ? ['matched', 'left'] : ['matched', 'left', 'unmatched'];
}
