/** HATS collections, of tables and of jobs, in Python: docs/hats.md. */

/** Return the call that opens a collection in LSDB. */
export const openCatalogCall = (address: string): string => `lsdb.open_catalog(${JSON.stringify(address)})`;
