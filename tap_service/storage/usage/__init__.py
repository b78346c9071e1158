"""Usage statistics, in an SQLite file or in Redis."""
