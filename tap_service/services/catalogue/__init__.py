"""The catalogue: its current version, the tables that each user sees, and example queries."""
