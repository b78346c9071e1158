"""Uploaded tables: fetching by URL, reading in the sandbox, loading into the engine for one query."""
