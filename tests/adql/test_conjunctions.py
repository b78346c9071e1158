"""ClickHouse sees AND between conjuncts only: elsewhere AND loses rows (``clickhouse_schema.conjunction_sql``)."""

from __future__ import annotations

import re

import pytest

from adql.translation import translate
from clickhouse_schema.table_ddl import create_table_sql
from tap_service.storage.engine.engine import Engine
from tests.adql.translation_pairs import ON_CLUSTER, ONE_SERVER, Pair, read_pairs

PAIRS = [pair for pair in read_pairs() if not pair.title.startswith(ON_CLUSTER)]

_FUNCTION = re.compile(r"( *)FUNCTION id: \d+, function_name: (\w+)")
_NODE = re.compile(r"( *)(?:[A-Z_]+ id: \d+|[A-Z ]+$)")
_CONDITIONS = ("WHERE", "PREWHERE", "HAVING", "JOIN EXPRESSION")


@pytest.fixture(scope="module")
def empty_tables(engine: Engine) -> Engine:
    """Return an engine with the tables of the pairs, without rows."""
    for schema in ONE_SERVER.schemas:
        engine.execute(f"CREATE DATABASE IF NOT EXISTS {schema.name}")
        for table in schema.tables:
            engine.execute(create_table_sql(table, f"{schema.name}.{table.name}"))
    return engine


def find_inner_conjunctions(tree: str) -> list[str]:
    """Return the lines of EXPLAIN QUERY TREE with an AND inside other operators than AND and OR."""
    found, above = [], []
    for line in tree.splitlines():
        node = _NODE.match(line)
        if node is None:
            continue
        depth = len(node[1])
        above = [(at, name) for at, name in above if at < depth]
        function = _FUNCTION.match(line)
        above.append((depth, function[2] if function else line.strip()))
        if function and function[2] == "and":
            names = [name for _, name in above[::-1] if not name.startswith(("LIST", "ARGUMENTS"))]
            outside = next(name for name in names if name not in ("and", "or"))
            if outside not in _CONDITIONS:
                found.append(line.strip())
    return found


@pytest.mark.parametrize("pair", PAIRS, ids=[pair.title for pair in PAIRS])
def test_no_and_inside_other_operators(pair: Pair, empty_tables: Engine) -> None:
    translation = translate(pair.adql, ONE_SERVER)
    sql = f"EXPLAIN QUERY TREE {translation.sql}"
    tree = empty_tables.fetch_table(sql, translation.settings).column(0).to_pylist()
    assert find_inner_conjunctions("\n".join(tree)) == []


def test_an_inner_and_would_be_found(engine: Engine) -> None:
    sql = "SELECT number FROM numbers(9) WHERE number IN (1, 2) AND (number > 3 OR NOT (number > 4 AND number < 6))"
    tree = engine.fetch_table(f"EXPLAIN QUERY TREE {sql}").column(0).to_pylist()
    assert len(find_inner_conjunctions("\n".join(tree))) == 1
