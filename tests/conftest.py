"""Fixtures that every package's tests share: one embedded engine in a test process, for it allows one data directory."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
from hypothesis import settings

import web
from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.engine_tables import catalogue_log, engine_setup
from loaders.cli.console_reporter import ConsoleReporter
from loaders.tables.demo_tables import load_demo
from tap_service.storage.engine.embedded_engine import EmbeddedEngine

# How long an example takes is the machine's business. make test tries the same ones in each run: what fails has failed
# for a change; make fuzz tries more of them, other ones each time.
_EXAMPLES = os.environ.get("FUZZ_EXAMPLES", "")
settings.register_profile("skyhouse", deadline=None, max_examples=int(_EXAMPLES or 60), derandomize=not _EXAMPLES)
settings.load_profile("skyhouse")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--shards", type=int, default=0, help="run the tests of adql on a cluster with this number of servers"
    )
    parser.addoption("--remote", action="store_true", help="run the tests of adql on one server, without a cluster")
    parser.addoption("--portal", type=Path, default=web.DIST, metavar="PATH", help="the build of the portal to test")
    parser.addoption("--browser", default="chromium", choices=("chromium", "firefox"), help="what shows the portal")


def pytest_configure() -> None:
    os.environ["NUMBA_DISABLE_JIT"] = "1"  # LSDB's trees of a few pixels: to compile their functions takes 15 s


def pytest_collection_finish() -> None:
    """Do not search the thousands of collected tests for garbage again and again: a tenth of the processor time."""
    gc.collect()
    gc.freeze()


def pytest_unconfigure() -> None:
    gc.unfreeze()


@pytest.fixture(scope="session", autouse=True)
def _interrupts() -> None:
    """Commands that tests interrupt react to SIGINT, even if a shell started the tests in the background."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _answers_are_closed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """pyvo leaves some open that it has read: their sockets would be warned of in whichever test finds them."""
    answers: list[requests.Response] = []
    send = requests.Session.send

    def noted(session: requests.Session, request: requests.PreparedRequest, **options: Any) -> requests.Response:
        answers.append(send(session, request, **options))
        return answers[-1]

    monkeypatch.setattr(requests.Session, "send", noted)
    yield
    for answer in answers:
        answer.close()


@pytest.fixture(scope="session")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedEngine]:
    """The test process's only embedded engine, empty at first. Each test file uses its own database names."""
    data_path: Path = tmp_path_factory.mktemp("data")
    engine = EmbeddedEngine(data_path)
    yield engine
    engine.close()


@pytest.fixture(scope="session")
def demo_engine(engine: EmbeddedEngine) -> EmbeddedEngine:
    """The engine with the demo's tables, tycho2.bright and openngc.objects, loaded as ``skyhouse demo`` loads them."""
    engine_setup.prepare_engine(engine)
    with ConsoleReporter() as reporter:
        load_demo(engine, reporter)
    return engine


@pytest.fixture
def demo_catalogue(demo_engine: EmbeddedEngine) -> Catalogue:
    return catalogue_log.read_catalogue(demo_engine)
