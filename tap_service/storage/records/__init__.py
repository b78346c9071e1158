"""Records and sorted indexes of them, in an SQLite file or in Redis: what the small stores are made of."""
