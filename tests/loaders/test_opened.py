"""How commands open the engine if its catalogue cannot be written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from loaders.control import data_commands, engine_opener
from loaders.pipeline.load_request import LoadRequest
from tap_service.storage.engine.engine import EngineUnavailable, StorageFull
from tests.loaders.recorder import Recorder


class Standing:
    """An engine that receives no queries."""

    def __init__(self, path: Path, lock: object = None) -> None:
        self.is_closed = False

    def pin_server(self) -> Standing:
        return self

    def close(self) -> None:
        self.is_closed = True


def test_existing_data_can_be_read_on_a_full_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(engine: object) -> None:
        raise StorageFull("Cannot reserve 1.00 MiB")

    monkeypatch.setattr(engine_opener, "EmbeddedEngine", Standing)
    monkeypatch.setattr(engine_opener, "prepare_engine", full)
    with engine_opener.open_engine(tmp_path) as engine:
        assert isinstance(engine, Standing)
    assert "no space is left: Cannot reserve 1.00 MiB" in caplog.text


def test_a_command_that_loses_the_engine_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def lost(*_: Any) -> None:
        raise EngineUnavailable("the engine does not answer")

    monkeypatch.setitem(data_commands.COMMANDS, "load", lost)
    recorder = Recorder()
    request = LoadRequest(files=(), table="a.b", rejects=tmp_path / "rejects.csv")
    assert data_commands.run_command(Standing(tmp_path), request, recorder) == 1  # type: ignore[arg-type]
    assert recorder.messages == [
        "error: the engine failed: the engine does not answer: start the same load again when it is reachable"
    ]
