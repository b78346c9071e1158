"""A command that is stopped cancels its query, whether the query is computing or sending rows."""

from __future__ import annotations

import pytest

from loaders.load_error import LoadCancelled
from loaders.pipeline import stoppable_query
from loaders.pipeline.stoppable_query import stream_until_stopped
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tap_service.storage.engine.engine import EngineValueError
from tests.loaders.recorder import Recorder

#: Neither ends before the time limit of tests
ENDLESS = {
    "computes": "SELECT count() FROM numbers(1000000000000) WHERE cityHash64(number) = 1",
    "has rows": "SELECT number FROM numbers(1000000000000)",
}


class InterruptedRecorder(Recorder):
    """The user presses Ctrl-C, which no check reports."""

    def check(self) -> None:
        try:
            super().check()
        except LoadCancelled:
            raise KeyboardInterrupt from None


@pytest.mark.parametrize("sql", ENDLESS.values(), ids=ENDLESS)
@pytest.mark.parametrize(("kind", "wanted"), [(Recorder, LoadCancelled), (InterruptedRecorder, KeyboardInterrupt)])
def test_a_stopped_command_cancels_its_query(
    engine: EmbeddedEngine,
    monkeypatch: pytest.MonkeyPatch,
    sql: str,
    kind: type[Recorder],
    wanted: type[BaseException],
) -> None:
    monkeypatch.setattr(stoppable_query, "_CHECK_SECONDS", 0.05)
    with pytest.raises(wanted), stream_until_stopped(engine, sql, {}, kind(stop_after=5)) as batches:
        for _ in batches:
            pass
    assert engine.list_running_ids("command-") == []


def test_a_reader_that_leaves_cancels_its_query(engine: EmbeddedEngine) -> None:
    with stream_until_stopped(engine, ENDLESS["has rows"], {}, Recorder()) as batches:
        assert next(batches).column(0)[0].as_py() == 0
    assert engine.list_running_ids("command-") == []


def test_all_rows_and_errors_are_those_of_the_engine(engine: EmbeddedEngine) -> None:
    with stream_until_stopped(engine, "SELECT number FROM numbers(200000)", {}, Recorder()) as batches:
        assert sum(batch.num_rows for batch in batches) == 200_000
    failing = "SELECT intDiv(1, number - 150000) FROM numbers(200000)"
    with pytest.raises(EngineValueError), stream_until_stopped(engine, failing, {}, Recorder()) as batches:
        for _ in batches:
            pass
