import { ADQL_FUNCTIONS } from './functions';

export const editor = {
    firstQuery: 'SELECT table_name, description\nFROM TAP_SCHEMA.tables\nORDER BY table_name',
    untitled: (number: number) => `Query ${number}`,
    functions: ADQL_FUNCTIONS,
    label: 'ADQL query',
    placeholder: 'SELECT … FROM …   (Ctrl+Space completes, Ctrl+Enter runs)',
    indexed: 'indexed',
    moreForms: (count: number) => `and ${count} more forms`,
    kinds: { table: 'table', schema: 'schema', alias: 'query', output: 'output', uploaded: 'WITH table' },
    place: (line: number, column: number) => `Line ${line}, column ${column}`,
} as const;
