"""One table in the engine: its staging table, appends and publication, on one server."""
