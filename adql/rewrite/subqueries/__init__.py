"""The pass that replaces correlated subqueries by joins."""
