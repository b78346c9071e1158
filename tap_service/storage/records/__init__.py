"""Records and sorted indexes, in an SQLite file or in Redis, on which the small stores are built."""
