"""The catalogue: its current version, what each user sees of it, and example queries."""
