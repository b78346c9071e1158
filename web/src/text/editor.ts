export const editor = {
    firstQuery: 'SELECT table_name, description\nFROM TAP_SCHEMA.tables\nORDER BY table_name',
    untitled: (number: number) => `Query ${number}`,
} as const;
