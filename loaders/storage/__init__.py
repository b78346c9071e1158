"""One table in the engine: its staging table, publication and appends, on one server."""
