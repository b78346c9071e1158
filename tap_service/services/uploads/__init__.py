"""Uploaded tables: fetched from URLs, read in the sandbox, and loaded into the engine for one query."""
