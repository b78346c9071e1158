"""The TAP service. Imports ``adql`` and ``clickhouse_schema``."""
