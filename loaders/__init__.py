"""The bulk loader and the ``skyhouse`` command. Imports ``tap_service``, ``adql`` and ``clickhouse_schema``."""
