"""Usage statistics: an SQLite file, or Redis on a cluster."""
