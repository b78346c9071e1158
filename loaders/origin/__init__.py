"""Other servers from which an operator takes tables: one HTTP client, and what TAP services say of their tables."""
