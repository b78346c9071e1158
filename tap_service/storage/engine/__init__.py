"""ClickHouse, embedded or as servers, behind the interface of ``engine.py``."""
