"""The example queries that ``serve`` prints can be pasted and run."""

from __future__ import annotations

import ast
import re
import shlex

import pyarrow as pa
import pytest

from adql.translation import translate
from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.schema_model import Column, Layout, Schema, Table
from clickhouse_schema.table_ddl import create_table_sql
from tap_service.services.site.first_queries import format_first_queries
from tap_service.storage.engine.engine import Engine, EngineUnavailable

URL = "http://127.0.0.1:8000"


def suggested(printed: str) -> tuple[str, list[str], str]:
    """Return the query for pyvo, the words of the STILTS command and the query for curl, as Python and a shell parse them."""
    python = re.search(r"\.search\((.*?)\)\.to_table\(\)", printed, re.DOTALL)
    assert python is not None
    commands = re.findall(r"^ +((?:stilts|curl) .*\\\n.*)$", printed, re.MULTILINE)
    stilts, curl = (shlex.split(command.replace("\\\n", " ")) for command in commands)
    return ast.literal_eval(f"({python[1]})"), stilts, curl[-1].removeprefix("QUERY=")


def _table(name: str, columns: tuple[str, str, str], position: tuple[str, str] | None = None) -> Table:
    made = tuple(Column(name=column, datatype="double") for column in columns)
    return Table(name=name, columns=made, layout=Layout(position=position))


_PLAIN = _table("plain", ("a", "b", "c"))
_ODD = _table("ta\"b'le $HOME \\", ("Size", "de\"c'l", "x\\"), ("Size", "de\"c'l"))
_EMPTY = _table("empty", ("ra", "dec", "mag"), ("ra", "dec"))


@pytest.mark.parametrize(
    ("tables", "used", "is_cone"),
    [
        ((), "TAP_SCHEMA.tables", False),
        ((_PLAIN,), "nearby.plain", False),
        ((_PLAIN, _ODD), f"nearby.{_ODD.name}", True),
        ((_PLAIN, _EMPTY, _ODD), "nearby.empty", False),
    ],
    ids=["none", "no position", "odd names", "no rows"],
)
def test_queries_of_what_is_there(tables: tuple[Table, ...], used: str, is_cone: bool, engine: Engine) -> None:
    described = Table(
        name="tables", columns=tuple(Column(name=n, datatype="unicode") for n in ("table_name", "description"))
    )
    catalogue = Catalogue((Schema(name="TAP_SCHEMA", tables=(described,)), Schema(name="nearby", tables=tables)))
    engine.execute("DROP DATABASE IF EXISTS nearby")
    engine.execute("CREATE DATABASE nearby")
    for entry in catalogue.entries[1:]:
        engine.execute(create_table_sql(entry.table, entry.storage_sql))
        if entry.table is not _EMPTY:
            rows = {column.name: [10.0, 20.0] for column in entry.table.columns}
            engine.insert_batches(entry.storage_sql, [pa.RecordBatch.from_pydict(rows)])
    printed = format_first_queries(engine, catalogue, URL)
    python, stilts, curl = suggested(printed)
    assert ("CONTAINS" in python) == is_cone
    for query in (python, stilts[-1].removeprefix("adql="), curl):
        translation = translate(query, catalogue)
        assert [entry.qualified_name for entry in translation.tables] == [used]
        if tables and used != "nearby.empty":
            assert engine.fetch_table(translation.sql, translation.settings).num_rows > 0


def test_an_engine_out_of_reach_is_no_hindrance() -> None:
    class Gone:
        def fetch_table(self, *_: object) -> None:
            raise EngineUnavailable("the engine does not answer")

    printed = format_first_queries(Gone(), Catalogue((Schema(name="nearby", tables=(_EMPTY,)),)), URL)  # type: ignore[arg-type]
    assert "FROM nearby.empty" in printed
