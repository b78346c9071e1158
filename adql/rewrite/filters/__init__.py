"""Passes that add filters: conditions that one table implies for another table, so that fewer of its rows are read."""
