"""Passes that add filters: conditions that one table implies for another, so that less of it is read."""
