"""Changes of the catalogue while others read or change it, after a crash, and after the clock was set back."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pyarrow as pa
import pytest

from clickhouse_schema.engine_tables import catalogue_log, engine_setup
from clickhouse_schema.schema_model import Column, Schema, Table
from tap_service.storage.engine.engine import Engine

#: Enough rows of TAP_SCHEMA.columns for a reader to be in the middle of them
_WIDE = 3000


def _schema(name: str, columns: int = 1, description: str = "") -> Schema:
    made = tuple(Column(name=f"c{n}", datatype="int", description="long " * 200) for n in range(columns))
    return Schema(name=name, tables=(Table(name="t", description=description, columns=made),))


@pytest.fixture
def changed(engine: Engine) -> Iterator[Engine]:
    """The shared engine; the schemas ``change_*`` are removed afterwards."""
    engine_setup.prepare_engine(engine)
    yield engine
    for schema in catalogue_log.read_catalogue(engine).schemas:
        if schema.name.startswith("change_"):
            catalogue_log.unregister_table(engine, schema.name, "t")


def _register(engine: Engine, schema: Schema) -> None:
    catalogue_log.register_table(engine, schema, schema.tables[0])


def _names(engine: Engine) -> list[str]:
    answer = engine.fetch_table(
        "SELECT table_name FROM TAP_SCHEMA.tables WHERE startsWith(table_name, 'change_') ORDER BY 1"
    )
    return answer.column(0).to_pylist() if answer.num_columns else []


def test_a_change_does_not_wait_for_a_slow_reader_which_sees_the_old_rows(changed: Engine) -> None:
    _register(changed, _schema("change_wide", _WIDE))
    sql = "SELECT column_name FROM TAP_SCHEMA.columns WHERE table_name = 'change_wide.t' ORDER BY column_index DESC"
    with changed.stream_batches(sql, batch_rows=64) as batches:
        first: pa.RecordBatch = next(batches)
        change = threading.Thread(target=catalogue_log.unregister_table, args=(changed, "change_wide", "t"))
        change.start()
        change.join(30)
        assert not change.is_alive()
        assert first.num_rows + sum(batch.num_rows for batch in batches) == _WIDE
    assert _names(changed) == []


def test_all_simultaneous_changes_are_made(changed: Engine) -> None:
    errors: list[BaseException] = []

    def register(number: int) -> None:
        try:
            _register(changed, _schema(f"change_{number}"))
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=register, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert _names(changed) == [f"change_{number}.t" for number in range(4)]


def test_the_last_change_counts_even_if_the_clock_was_set_back(changed: Engine) -> None:
    _register(changed, _schema("change_clock", description="first"))
    changed.execute(
        "INSERT INTO skyhouse.catalogue SELECT max(version) + 86400000000000, 'x', 'x', '', 0, '' FROM skyhouse.catalogue"
    )
    before = catalogue_log.read_catalogue_version(changed)
    _register(changed, _schema("change_clock", description="second"))
    assert catalogue_log.read_catalogue_version(changed) > before
    (entry,) = catalogue_log.read_catalogue(changed).find_tables("t", True, "change_clock", True)
    assert entry.table.description == "second"


def test_tables_of_another_version_of_tap_schema_are_recreated(changed: Engine) -> None:
    _register(changed, _schema("change_old"))
    changed.execute("ALTER TABLE TAP_SCHEMA.tables ADD COLUMN former Int32")
    engine_setup.prepare_engine(changed)
    assert _names(changed) == ["change_old.t"]
    assert changed.fetch_table("SELECT * FROM TAP_SCHEMA.tables LIMIT 1").column_names[-1] == "table_index"
