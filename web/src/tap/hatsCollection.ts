/** HATS collections, of tables and of jobs, in Python: docs/hats.md. */

/** Return Python that opens a collection in LSDB. `own`: only its owner sees it, so the token goes with each request. */
export function openCatalogCall(address: string, own: boolean): string {
    const literal = JSON.stringify(address);
    if (!own) return `import lsdb\n\ncatalog = lsdb.open_catalog(${literal})`;
    return `import os, lsdb\n\nheaders = {"Authorization": "Bearer " + os.environ["TAP_TOKEN"]}\ncatalog = lsdb.open_catalog(\n    ${literal},\n    storage_options={"headers": headers})`;
}
