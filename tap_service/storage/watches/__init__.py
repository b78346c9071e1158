"""Watches: queries that run on the new rows of a table."""
