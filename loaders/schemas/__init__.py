"""Schema files of standard tables, each with example rows, which are made up (CC0-1.0)."""
