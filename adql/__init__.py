"""ADQL in, ClickHouse SQL out. Pure: no HTTP, no driver, no clock. Imports only ``clickhouse_schema``."""
