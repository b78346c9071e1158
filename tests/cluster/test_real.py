"""The commands that stop and start a server of the real cluster."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cluster import real


def test_a_command_gets_host_and_port(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    said = tmp_path / "said"
    monkeypatch.setenv("CLUSTER_STOP", f"echo stop {{host}} {{port}} >> {said}")
    monkeypatch.setenv("CLUSTER_START", f"echo start server-{{port}} >> {said}")
    real.stop("http://ch1:8123")
    real.start("https://127.0.0.1:8444")
    assert said.read_text() == "stop ch1 8123\nstart server-8444\n"
