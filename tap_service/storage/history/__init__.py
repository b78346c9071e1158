"""The history of users' queries: an SQLite file, or Redis on a cluster."""
