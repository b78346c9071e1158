"""Commands on tables: list, verify, drop, change."""
