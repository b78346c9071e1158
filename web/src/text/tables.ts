import { count, counted } from './index';

export const tables = {
    tree: {
        label: 'Schemas, tables and columns',
        search: 'Search tables and columns',
        searchLabel: 'Search names, UCDs, units and descriptions of tables and columns',
        found: (all: number, shown: number) =>
            all === 0
                ? 'Nothing found.'
                : `${counted(all, 'match', 'matches')}${shown < all ? `, the best ${count(shown)} shown` : ''}.`,
        foundLabel: 'What was found',
        searching: 'The columns are still being read …',
        cut: (columns: number) => `Only the first ${count(columns)} columns of the service are searched.`,
        unsearched: (why: string) => `Only tables are searched, for the columns could not be read: ${why}`,
        again: 'Try again',
        empty: 'The service has no tables.',
        page: 'Table page',
        pageOf: (table: string) => `Page of ${table}`,
        help: 'Arrow keys move and open, Enter inserts the name into the query, Shift and Enter open the page of the table.',
    },
} as const;
