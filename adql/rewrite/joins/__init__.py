"""Passes that bring joins and compared keys into the form that ClickHouse accepts."""
