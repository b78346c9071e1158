"""The engine's interface. All engines run through the same tests: add an engine to the fixture ``backend``."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime

import pyarrow as pa
import pytest

from tap_service.storage.engine.clickhouse_engine import ClickHouseEngine
from tap_service.storage.engine.engine import (
    Engine,
    EngineError,
    EngineValueError,
    MemoryLimit,
    QueryCancelled,
    QueryTimeout,
    ResourceLimit,
)
from tests.servers.clickhouse_server import ClickHouseServer

ENDLESS = "SELECT number, sipHash64(number) AS hash FROM numbers(1000000000000)"
LONG_SUM = "SELECT sum(sipHash64(number)) FROM numbers(1000000000000)"


@pytest.fixture(scope="module")
def remote(clickhouse: ClickHouseServer) -> Iterator[ClickHouseEngine]:
    backend = ClickHouseEngine(clickhouse.url)
    yield backend
    backend.close()


@pytest.fixture(params=["engine", "remote"], ids=["embedded", "remote"])
def backend(request: pytest.FixtureRequest) -> Engine:
    return request.getfixturevalue(request.param)


@pytest.fixture
def database(backend: Engine) -> Iterator[str]:
    backend.execute("CREATE DATABASE engine_tests")
    yield "engine_tests"
    backend.execute("DROP DATABASE engine_tests SYNC")


def running(backend: Engine) -> int:
    """Count the queries in the engine, without this query and the query that keeps a server running."""
    sql = "SELECT count() FROM system.processes WHERE query NOT LIKE '%sleepEachRow(3)%'"
    return backend.fetch_table(sql).column(0)[0].as_py()


def wait_until_idle(backend: Engine) -> None:
    while running(backend):
        time.sleep(0.01)


class TestEngine:
    def test_fetch_table(self, backend: Engine) -> None:
        answer = backend.fetch_table("SELECT 1 AS a, 'x\\'y' AS b, NULL AS c, [1.5, 2.5] AS d")
        assert answer.to_pylist() == [{"a": 1, "b": "x'y", "c": None, "d": [1.5, 2.5]}]

    def test_fetch_table_without_rows(self, backend: Engine) -> None:
        assert backend.fetch_table("SELECT 1 AS a WHERE 0").num_rows == 0

    def test_settings_hold_for_one_call_only(self, backend: Engine) -> None:
        asked = "SELECT getSetting('max_threads') AS n, getSetting('log_comment') AS c"
        assert backend.fetch_table(asked, {"max_threads": 1, "log_comment": "it's \\ here"}).to_pylist() == [
            {"n": 1, "c": "it's \\ here"}
        ]
        assert backend.fetch_table(asked).to_pylist() != [{"n": 1, "c": "it's \\ here"}]

    def test_setting_names_are_checked(self, backend: Engine) -> None:
        with pytest.raises(ValueError, match="not the name of a setting"):
            backend.fetch_table("SELECT 1", {"max_threads = 1, readonly": 0})

    def test_times_are_utc(self, backend: Engine) -> None:
        answer = backend.fetch_table(
            "SELECT toDateTime64('2020-01-02 03:04:05.123456', 6, 'UTC') AS t, timezone() AS z"
        )
        assert answer.column("t").type == pa.timestamp("us", tz="UTC")
        assert answer.to_pylist() == [{"t": datetime(2020, 1, 2, 3, 4, 5, 123456, UTC), "z": "UTC"}]

    def test_stream_has_bounded_batches(self, backend: Engine) -> None:
        with backend.stream_batches(
            "SELECT number FROM numbers(100000) ORDER BY number DESC", batch_rows=1000
        ) as batches:
            sizes, values = [], []
            for batch in batches:
                sizes.append(batch.num_rows)
                values += batch.column(0).to_pylist()
        assert values == list(range(99999, -1, -1))
        assert max(sizes) <= 1000

    def test_stream_without_rows(self, backend: Engine) -> None:
        with backend.stream_batches("SELECT 1 WHERE 0") as batches:
            assert list(batches) == []

    def test_sparse_stream_is_complete(self, backend: Engine) -> None:
        sql = "SELECT number FROM numbers(3000000) WHERE sipHash64(number) % 100000 = 3"
        with backend.stream_batches(sql) as batches:
            found = sum(batch.num_rows for batch in batches)
        assert found == backend.fetch_table(f"SELECT count() FROM ({sql})").column(0)[0].as_py() > 0

    def test_first_batch_comes_before_the_last(self, backend: Engine) -> None:
        with backend.stream_batches(ENDLESS) as batches:
            assert next(batches).num_rows > 0
        wait_until_idle(backend)

    def test_an_exception_in_a_stream_cancels_the_query(self, backend: Engine) -> None:
        with pytest.raises(KeyError), backend.stream_batches(ENDLESS) as batches:  # noqa: PT012
            next(batches)
            raise KeyError("an error of the reader")
        wait_until_idle(backend)

    def test_cancel_reaches_the_reader(self, backend: Engine) -> None:
        timer = threading.Timer(0.2, backend.cancel_query, ["it's me"])
        timer.start()
        with pytest.raises(QueryCancelled), backend.stream_batches(LONG_SUM, query_id="it's me") as batches:
            list(batches)
        timer.join()
        wait_until_idle(backend)

    def test_cancel_of_a_paused_stream(self, backend: Engine) -> None:
        with pytest.raises(QueryCancelled), backend.stream_batches(ENDLESS, query_id="paused") as batches:  # noqa: PT012
            next(batches)
            backend.cancel_query("paused")
            for _ in batches:
                pass

    def test_running_queries_by_prefix(self, backend: Engine) -> None:
        with (
            backend.stream_batches(ENDLESS, query_id="run-1") as rows,
            backend.stream_batches(ENDLESS, query_id="run_2") as others,
        ):
            assert next(rows).num_rows
            assert next(others).num_rows
            assert backend.list_running_ids("run-") == ["run-1"]
            assert sorted(backend.list_running_ids("run")) == ["run-1", "run_2"]
        assert backend.list_running_ids("' OR 1 --") == []

    @pytest.mark.parametrize(
        "form",
        [
            "{one} LIMIT 1",
            "SELECT toUInt64(1) AS n UNION ALL {one}",
            "{one} UNION DISTINCT SELECT toUInt64(1) AS n",
            "({one}) INTERSECT DISTINCT (SELECT toUInt64(1) AS n)",
            "WITH w AS ({one}) SELECT n FROM w EXCEPT ALL SELECT toUInt64(0) AS n",
        ],
    )
    def test_a_query_has_its_id_whatever_its_form(self, backend: Engine, form: str) -> None:
        one = "SELECT count() AS n FROM system.processes WHERE Settings['log_comment'] = 'run-3' AND is_initial_query"
        with backend.stream_batches(form.format(one=one), query_id="run-3") as batches:
            assert {row["n"] for batch in batches for row in batch.to_pylist()} == {1}

    def test_cancel_of_unknown_ids_does_nothing(self, backend: Engine) -> None:
        with backend.stream_batches("SELECT number FROM numbers(1000000)", query_id="mine") as batches:
            backend.cancel_query("nobody")
            backend.cancel_query("")
            assert sum(batch.num_rows for batch in batches) == 1000000

    def test_progress_of_running_queries(self, backend: Engine) -> None:
        assert backend.read_progress([]) == backend.read_progress(["progress-test"]) == {}
        sql = "SELECT number, sipHash64(number) AS hash FROM numbers(1000000000)"
        with backend.stream_batches(sql, query_id="progress-test") as batches:
            next(batches)
            said = backend.read_progress(["progress-test", "another"])
        assert list(said) == ["progress-test"]
        assert said["progress-test"].read_rows > 0
        assert said["progress-test"].read_bytes >= 8 * said["progress-test"].read_rows
        assert said["progress-test"].total_rows == 1_000_000_000

    def test_queries_run_concurrently(self, backend: Engine) -> None:
        answers: list[int] = []

        def ask(number: int) -> None:
            answers.extend(backend.fetch_table(f"SELECT {number} AS n").column(0)[0].as_py() for _ in range(20))

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(answers) == sorted(list(range(6)) * 20)

    @pytest.mark.parametrize(
        ("sql", "settings", "kind", "said"),
        [
            (LONG_SUM, {"max_execution_time": 0.2}, QueryTimeout, "Timeout"),
            ("SELECT groupArray(number) FROM numbers(100000000)", {"max_memory_usage": 9**8}, MemoryLimit, "memory"),
            ("SELECT number FROM numbers(1000000)", {"max_rows_to_read": 10}, ResourceLimit, "max rows"),
            ("SELECT number FROM numbers(1000000)", {"max_result_rows": 10}, ResourceLimit, "max rows"),
            ("SELECT intDiv(1, number - 70000) FROM numbers(100000)", {}, EngineValueError, "Division by zero"),
            (
                "SELECT accurateCast(number, 'UInt8') FROM numbers(300)",
                {},
                EngineValueError,
                "cannot be safely converted",
            ),
            ("SELECT toInt32('x')", {}, EngineValueError, "Cannot parse string 'x'"),
            ("SELECT toDateTime64('2020-13-45', 6)", {}, EngineValueError, "unexpected date"),
            ("SELECT CAST(CAST(NULL, 'Nullable(Int8)'), 'Int8')", {}, EngineValueError, "NULL"),
            ("SELECT nothing FROM nowhere.nothing", {}, EngineError, "nowhere"),
            ("SELEC 1", {}, EngineError, "Syntax error"),
        ],
    )
    def test_errors_are_engine_errors(self, backend: Engine, sql: str, settings: dict, kind: type, said: str) -> None:
        for ask in (lambda: backend.fetch_table(sql, settings), lambda: drain(backend, sql, settings)):
            with pytest.raises(EngineError) as caught:
                ask()
            assert type(caught.value) is kind
            assert said in str(caught.value)
            assert "DB::Exception" not in str(caught.value)
            assert "__table" not in str(caught.value)
            assert caught.value.code > 0
            assert f"Code: {caught.value.code}" in caught.value.detail

    def test_insert_matches_columns_by_name(self, backend: Engine, database: str) -> None:
        backend.execute(
            f"CREATE TABLE {database}.t (a Int64, b Nullable(Float64), c String, d Array(Int16), "
            "e DateTime64(6, 'UTC'), f Bool, g Nullable(DateTime64(6, 'UTC')), h UInt64 MATERIALIZED a + 1) "
            "ENGINE = MergeTree ORDER BY a"
        )
        when = datetime(1905, 6, 7, 8, 9, 10, 11, UTC)
        rows = [
            {"c": "é\\'\n", "a": 2, "b": None, "d": [1, -2], "e": when, "f": True, "g": None},
            {"c": "", "a": -(2**62), "b": float("nan"), "d": [], "e": when, "f": False, "g": when},
        ]
        types = {"c": pa.string(), "a": pa.int64(), "b": pa.float64(), "d": pa.list_(pa.int16())}
        times = {"e": pa.timestamp("us", tz="UTC"), "f": pa.bool_(), "g": pa.timestamp("us", tz="UTC")}
        schema = pa.schema(types | times)
        batches = [pa.RecordBatch.from_pylist([row], schema) for row in rows]
        backend.insert_batches(f"{database}.t", iter(batches))
        answer = backend.fetch_table(f"SELECT c, a, b, d, e, f, g, h FROM {database}.t ORDER BY a DESC").to_pylist()
        assert answer[0] == rows[0] | {"h": 3}
        assert answer[1].pop("b") != answer[1].get("b")
        parts = backend.fetch_table(f"SELECT count() FROM system.parts WHERE active AND database = '{database}'")
        assert parts.column(0)[0].as_py() == 1

    def test_insert_of_nothing(self, backend: Engine, database: str) -> None:
        backend.execute(f"CREATE TABLE {database}.t (a Int64) ENGINE = MergeTree ORDER BY a")
        backend.insert_batches(f"{database}.t", iter([]))
        assert backend.fetch_table(f"SELECT count() FROM {database}.t").column(0)[0].as_py() == 0

    def test_a_row_that_the_table_refuses_is_an_error(self, backend: Engine, database: str) -> None:
        """An expression of the table fails after the rows were read."""
        backend.execute(
            f"CREATE TABLE {database}.t (a Int64, b UInt8 MATERIALIZED throwIf(a > 5)) ENGINE = MergeTree ORDER BY a"
        )
        with pytest.raises(EngineError):
            backend.insert_batches(f"{database}.t", [pa.RecordBatch.from_pydict({"a": [1, 7]})])
        assert backend.fetch_table(f"SELECT count() AS n FROM {database}.t").to_pylist() == [{"n": 0}]

    def test_an_insert_of_many_rows_is_one_part(self, backend: Engine, database: str) -> None:
        backend.execute(f"CREATE TABLE {database}.t (a Int64) ENGINE = MergeTree ORDER BY a")
        batch = pa.RecordBatch.from_pydict({"a": pa.array(range(150_000))})
        backend.insert_batches(f"{database}.t", [batch] * 20)
        sql = f"SELECT rows FROM system.parts WHERE database = '{database}' AND table = 't' AND level = 0"
        assert backend.fetch_table(sql).to_pylist() == [{"rows": 3_000_000}]

    def test_insert_is_all_or_nothing(self, backend: Engine, database: str) -> None:
        backend.execute(f"CREATE TABLE {database}.t (a Int64) ENGINE = MergeTree ORDER BY a")
        good = pa.RecordBatch.from_pydict({"a": pa.array(range(100000))})

        def breaking() -> Iterator[pa.RecordBatch]:
            yield good
            raise OSError("the file broke off")

        with pytest.raises(OSError, match="broke off"):
            backend.insert_batches(f"{database}.t", breaking())
        with pytest.raises(EngineError):
            backend.insert_batches(f"{database}.t", [pa.RecordBatch.from_pydict({"a": pa.array([1, None])})])
        with pytest.raises(EngineError):
            backend.insert_batches(f"{database}.t", [pa.RecordBatch.from_pydict({"nope": pa.array([1])})])
        assert backend.fetch_table(f"SELECT count() FROM {database}.t").column(0)[0].as_py() == 0

    def test_explain_names_the_index(self, backend: Engine, database: str) -> None:
        backend.execute(f"CREATE TABLE {database}.t (a Int64) ENGINE = MergeTree ORDER BY a")
        backend.execute(f"INSERT INTO {database}.t SELECT number FROM numbers(100000)")
        plan = backend.explain_query(f"SELECT a FROM {database}.t WHERE a = 5")
        assert "PrimaryKey" in plan
        assert "Granules: 1/12" in plan

    def test_ping(self, backend: Engine) -> None:
        backend.ping()


def drain(backend: Engine, sql: str, settings: dict) -> None:
    with backend.stream_batches(sql, settings=settings) as batches:
        for _ in batches:
            pass
