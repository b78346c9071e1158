"""``skyhouse export``: tables and results of queries as files outside the engine."""
