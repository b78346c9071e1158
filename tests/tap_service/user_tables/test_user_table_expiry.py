"""Expiry of user tables, and removal of tables left by dead processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import httpx
import pyarrow as pa
import pytest

from clickhouse_schema.engine_tables import density_table, engine_setup, user_table_record
from clickhouse_schema.engine_tables.user_table_record import (
    LIVE_PREFIX,
    STAGING_PREFIX,
    UserTable,
    new_name,
    quote_storage,
)
from clickhouse_schema.engine_tables.visible_user_tables import list_roles, read_visible_version
from clickhouse_schema.schema_model import Column, Layout, Table
from clickhouse_schema.table_ddl import create_table_sql
from tap_service.config import Config
from tap_service.models.timestamps import now
from tap_service.services.user_tables.user_table_expiry import UserTableExpiry, expiry_time
from tap_service.services.user_tables.user_table_storage import UserTableStorage
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tests.support.running_service import RunningService
from tests.tap_service.users import USERS, write_accounts

OWNER = "keeper'; DROP TABLE x --"
TABLE = Table(
    name="kept",
    columns=(
        Column(name="id", datatype="long"),
        Column(name="ra", datatype="double"),
        Column(name="dec", datatype="double"),
    ),
    layout=Layout(position=("ra", "dec")),
)
ROWS = pa.record_batch({"id": [1, 2], "ra": [10.0, 20.0], "dec": [0.0, 5.0]})
CONFIG = Config(user_table_days=10)


@pytest.fixture
def storage(svc_engine: EmbeddedEngine) -> Iterator[UserTableStorage]:
    made = UserTableStorage(CONFIG, svc_engine)
    yield made
    for record in user_table_record.read_user_tables(svc_engine, OWNER):
        made.remove_table(OWNER, record.table.name)


@pytest.fixture
def kept(storage: UserTableStorage) -> UserTable:
    return published(storage, replace=False)


def published(storage: UserTableStorage, *, replace: bool) -> UserTable:
    with storage.staging_table(TABLE) as filled:
        storage.insert_batches(OWNER, filled, [ROWS])
        return storage.publish_table(OWNER, TABLE, filled, replace=replace)


def names(engine: EmbeddedEngine) -> set[str]:
    found = engine.fetch_table("SELECT name FROM system.tables WHERE database = 'skyhouse_users'")
    return set(found["name"].to_pylist())


def described(engine: EmbeddedEngine) -> set[str]:
    return set(engine.fetch_table("SELECT described FROM skyhouse.own_columns")["described"].to_pylist())


def test_what_is_replaced_goes_when_nobody_can_read_it(
    svc_engine: EmbeddedEngine,
    storage: UserTableStorage,
    kept: UserTable,
    eventually: Callable[[Callable[[], bool]], None],
) -> None:
    care = UserTableExpiry(CONFIG, svc_engine)
    again = published(storage, replace=True)
    assert again.storage != kept.storage
    assert again.described == kept.described
    care.sweep_tables()
    assert {kept.storage, again.storage} <= names(svc_engine)
    care.sweep_tables()
    assert kept.storage not in names(svc_engine)
    assert again.storage in names(svc_engine)
    assert density_table.read_density(svc_engine, user_table_record.DATABASE, again.storage).num_rows == 2
    storage.remove_table(OWNER, "KEPT")
    assert again.described in described(svc_engine)
    care.sweep_tables()
    care.sweep_tables()
    assert again.storage not in names(svc_engine)
    eventually(lambda: again.described not in described(svc_engine))  # deletions are performed over time


def test_what_a_dead_process_has_left(svc_engine: EmbeddedEngine, kept: UserTable) -> None:
    """A staging table, and a table that was about to be published."""
    filling, live = new_name(STAGING_PREFIX), new_name(LIVE_PREFIX)
    for name in (filling, live):
        svc_engine.execute(create_table_sql(TABLE, quote_storage(name)))
    care = UserTableExpiry(CONFIG, svc_engine)
    for _ in range(3):
        care.sweep_tables()
    assert filling in names(svc_engine)  # another process may be working on it
    assert live not in names(svc_engine)
    UserTableExpiry(CONFIG, svc_engine).sweep_tables(alone=True)
    assert filling not in names(svc_engine)
    assert kept.storage in names(svc_engine)
    assert svc_engine.fetch_table(f"SELECT count() AS n FROM {quote_storage(kept.storage)}")["n"].to_pylist() == [2]


def test_a_failure_leaves_nothing(svc_engine: EmbeddedEngine, storage: UserTableStorage, kept: UserTable) -> None:
    before = names(svc_engine)
    too_little = UserTableStorage(Config(user_table_bytes=1), svc_engine)
    with too_little.staging_table(TABLE) as filled:
        svc_engine.insert_batches(quote_storage(filled), [ROWS])
        with pytest.raises(Exception, match="more than the 1 bytes that are left of your quota of 1"):
            too_little.append_rows(kept, filled)
        with pytest.raises(Exception, match="more than the 1 bytes that are left of your quota of 1"):
            too_little.publish_table(OWNER, TABLE, filled, replace=True)
    assert storage.get_table(OWNER, "kept") == kept
    UserTableExpiry(CONFIG, svc_engine).sweep_tables()
    assert names(svc_engine) <= before


@pytest.mark.parametrize(("idle", "is_used", "is_kept"), [(9, False, True), (11, False, False), (11, True, True)])
def test_a_table_that_nobody_uses_expires(
    svc_engine: EmbeddedEngine, kept: UserTable, idle: int, is_used: bool, is_kept: bool
) -> None:
    user_table_record.write_user_table(svc_engine, kept.model_copy(update={"changed": now() - timedelta(days=idle)}))
    if is_used:
        user_table_record.write_uses(svc_engine, [kept.described])
    UserTableExpiry(CONFIG.model_copy(update={"user_table_days": 0}), svc_engine).sweep_tables()
    assert user_table_record.find_user_table(svc_engine, OWNER, "kept") is not None
    UserTableExpiry(CONFIG, svc_engine).sweep_tables()
    assert (user_table_record.find_user_table(svc_engine, OWNER, "kept") is not None) == is_kept


def test_reading_the_files_of_a_table_is_a_use(
    svc_engine: EmbeddedEngine, storage: UserTableStorage, serve: Callable[..., RunningService], tmp_path: Path
) -> None:
    service = serve(accounts=write_accounts(tmp_path / "accounts.sqlite"), hats_path=tmp_path / "hats")
    with storage.staging_table(TABLE) as filled:
        storage.insert_batches("alice", filled, [ROWS])
        mine = storage.publish_table("alice", TABLE, filled, replace=False)
    answer = httpx.get(f"{service.url}/hats/mydb.kept/kept/hats.properties", auth=("alice", USERS["alice"]))
    assert answer.status_code == 200, answer.text
    assert [*user_table_record.read_last_uses(svc_engine, [mine.described])] == [mine.described]
    storage.remove_table("alice", "kept")


def test_when_a_table_ends(kept: UserTable) -> None:
    assert expiry_time(kept, None, 0) is None
    assert expiry_time(kept, None, 10) == kept.changed + timedelta(days=10)
    assert expiry_time(kept, "2000-01-31", 10) == kept.changed + timedelta(days=10)
    assert str(expiry_time(kept, "2200-01-31", 10)) == "2200-02-11 00:00:00+00:00"


def test_another_version_of_skyhouse_describes_the_tables_again(svc_engine: EmbeddedEngine, kept: UserTable) -> None:
    svc_engine.execute("ALTER TABLE skyhouse.own_columns DROP COLUMN std", {"mutations_sync": 2, "alter_sync": 2})
    engine_setup.prepare_engine(svc_engine)
    where = f"WHERE described = '{kept.described}' AND std = 0"
    assert svc_engine.fetch_table(f"SELECT column_name FROM skyhouse.own_columns {where}").num_rows == 3
    assert svc_engine.fetch_table(f"SELECT table_name FROM skyhouse.own_tables {where[:-12]}").num_rows == 1


def test_the_registry_keeps_its_order_when_the_clock_goes_back(svc_engine: EmbeddedEngine, kept: UserTable) -> None:
    roles = list_roles(OWNER, ())
    before, _ = read_visible_version(svc_engine, OWNER, roles)
    ahead = pa.record_batch(
        {"owner_key": ["x"], "name_key": ["y"], "document": [""], "version": pa.array([before + 10**15], pa.uint64())}
    )
    svc_engine.insert_batches("skyhouse.user_tables", [ahead])
    user_table_record.write_user_table(svc_engine, kept.model_copy(update={"rows": 7}))
    assert read_visible_version(svc_engine, OWNER, roles)[0] == before + 10**15 + 1
    found = user_table_record.find_user_table(svc_engine, OWNER, "kept")
    assert found is not None
    assert found.rows == 7
    svc_engine.execute("ALTER TABLE skyhouse.user_tables DELETE WHERE owner_key = 'x'", {"mutations_sync": 2})
