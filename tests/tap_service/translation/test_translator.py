"""Long queries are translated in processes that end at the limit, with the same answers and without delaying others."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import pytest

from adql import NameLookupError, translate
from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.schema_model import Column, Layout, Schema, Table
from tap_service.service_errors import InvalidQueryError, ServiceUnavailable
from tap_service.services.translation.translator import Translator, is_long
from tests.tap_service.processes import children, said_by

_STARS = Table(
    name="stars",
    columns=(
        Column(name="id", datatype="long", nullable=False),
        Column(name="ra", datatype="double", unit="deg"),
        Column(name="dec", datatype="double", unit="deg"),
    ),
    layout=Layout(position=("ra", "dec"), id=("id",)),
)
_CATALOGUE = Catalogue((Schema(name="sky", tables=(_STARS,)),), {("sky", "stars"): 1000})
_LIMIT = 100
_PADDING = "\n" + " " * 1000 + "-- of more than 1000 characters"

#: Takes many seconds within all limits of ``adql.limits``
_BOXES = " OR ".join(f"1 = CONTAINS(POINT(ra, dec), BOX({i % 360}, {i % 70}, 30, {1 + i % 50}))" for i in range(900))
_SLOW = f"SELECT id FROM sky.stars WHERE {_BOXES}"


@pytest.fixture
def translator() -> Iterator[Translator]:
    translator = Translator(1.0, is_kept_ready=True)
    translator.start()
    yield translator
    translator.close()


def _ask(translator: Translator, text: str, catalogue: Catalogue = _CATALOGUE) -> object:
    return translator.translate(text, catalogue, _LIMIT, None)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT TOP 5 * FROM sky.stars WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE(10, 10, 1))",
        "SELECT COUNT(*) AS n FROM sky.stars WHERE 1 = CONTAINS(POINT(ra, dec), POLYGON(1, 1, 2, 1, 2, 2, 1.5, 1.2))",
        "SELECT a.id FROM sky.stars AS a JOIN sky.stars AS b ON DISTANCE(a.ra, a.dec, b.ra, b.dec) < 0.01",
    ],
)
def test_a_long_query_has_the_translation_of_a_short_one(text: str, translator: Translator) -> None:
    here = translate(text, _CATALOGUE, limit=_LIMIT)
    there = translator.translate(text + _PADDING, _CATALOGUE, _LIMIT, None)
    assert not is_long(text)
    assert is_long(text + _PADDING)
    assert (there.sql, there.settings, there.fields, there.top) == (here.sql, here.settings, here.fields, here.top)
    assert there.query == here.query
    assert str(there.cells) == str(here.cells)
    assert there.plan == here.plan
    assert all(one is other for one, other in zip(there.tables, here.tables, strict=True))  # the catalogue's limit


@pytest.mark.parametrize("select", ["idd", "id, raa, decc", "id +"])
def test_errors_are_described_as_here(select: str, translator: Translator) -> None:
    text = f"SELECT {select} FROM sky.stars" + _PADDING
    with pytest.raises(Exception) as here:  # noqa: PT011
        translate(text, _CATALOGUE)
    with pytest.raises(InvalidQueryError) as there:
        _ask(translator, text)
    assert str(there.value) == here.value.describe(text)  # type: ignore[attr-defined]


def test_a_new_catalogue_is_noticed(translator: Translator) -> None:
    text = "SELECT id FROM sky.stars" + _PADDING
    _ask(translator, text)
    renamed = Catalogue((Schema(name="deep", tables=(_STARS,)),))
    with pytest.raises(InvalidQueryError, match=r"there is no table sky\.stars"):
        _ask(translator, text, renamed)
    entry = renamed.entries[0]
    assert translator.translate(text, _CATALOGUE.add_entries((entry,)), _LIMIT, None).tables == (_CATALOGUE.entries[0],)


def test_old_tables_are_forgotten(translator: Translator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tap_service.services.translation.translator_process._MAX_OLD_TABLES", 2)
    text = "SELECT id FROM sky.stars" + _PADDING
    for _ in range(9):
        catalogue = Catalogue(_CATALOGUE.schemas)
        assert translator.translate(text, catalogue, _LIMIT, None).tables[0] is catalogue.entries[0]
    [process] = translator._idle
    assert len(process._numbers.tables) <= 4


def test_names_are_looked_up_here_and_their_time_does_not_count() -> None:
    text = "SELECT id FROM sky.stars WHERE DISTANCE(POINT(ra, dec), ivo_simbadpoint('M 31')) < 1" + _PADDING
    asked: list[str] = []

    def look_up(name: str) -> tuple[float, float]:
        asked.append(name)
        time.sleep(0.5)
        return 10.6847, 41.2687

    def refuse(name: str) -> tuple[float, float]:
        raise NameLookupError(f"no object called '{name}'")

    translator = Translator(0.3, is_kept_ready=False)
    try:
        there = translator.translate(text, _CATALOGUE, _LIMIT, look_up)
        assert there.sql == translate(text, _CATALOGUE, limit=_LIMIT, positions=look_up).sql
        assert asked == ["M 31", "M 31"]
        with pytest.raises(InvalidQueryError, match="no object called 'M 31'"):
            translator.translate(text, _CATALOGUE, _LIMIT, refuse)
    finally:
        translator.close()


def test_a_translation_ends_at_the_limit_and_others_go_on(translator: Translator) -> None:
    """During three slow queries, short queries and a long query of another client are answered."""
    refused: list[str] = []

    def ask_slow() -> None:
        with pytest.raises(InvalidQueryError) as caught:
            _ask(translator, _SLOW)
        refused.append(str(caught.value))

    slow = [threading.Thread(target=ask_slow) for _ in range(3)]
    for thread in slow:
        thread.start()
    for _ in range(20):
        _ask(translator, "SELECT id FROM sky.stars")
    assert not refused
    for thread in slow:
        thread.join()
    assert [text[:47] for text in refused] == ["translating the query takes more than 1 s. Uplo"] * 3
    _ask(translator, "SELECT id FROM sky.stars" + _PADDING)


def test_a_process_without_processor_time_is_no_error_of_the_query(
    translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tap_service.services.translation.translator_process._WALL_CLOCK_FACTOR", 0.2)
    [process] = translator._idle
    os.kill(process.pid, signal.SIGSTOP)
    with pytest.raises(ServiceUnavailable, match="too busy to translate the query"):
        _ask(translator, "SELECT id FROM sky.stars" + _PADDING)
    assert process.pid not in children(os.getpid())


def test_a_lost_process_is_replaced(translator: Translator) -> None:
    [process] = translator._idle
    os.kill(process.pid, 9)
    _ask(translator, "SELECT id FROM sky.stars" + _PADDING)
    assert process.pid not in children(os.getpid())


def test_memory_is_limited(translator: Translator) -> None:
    _ask(translator, "SELECT id FROM sky.stars" + _PADDING)
    assert b"Max address space         3221225472" in said_by(translator._idle[0].pid, "limits")


def test_closing_ends_the_processes(translator: Translator) -> None:
    outcome: list[Exception] = []

    def ask_slow() -> None:
        try:
            _ask(translator, _SLOW)
        except Exception as error:
            outcome.append(error)

    thread = threading.Thread(target=ask_slow)
    thread.start()
    while not translator._processes - set(translator._idle):
        time.sleep(0.01)
    pids = [process.pid for process in translator._processes]
    translator.close()
    thread.join()
    assert isinstance(outcome[0], ServiceUnavailable)
    assert not set(pids) & set(children(os.getpid()))
    with pytest.raises(ServiceUnavailable):
        _ask(translator, "SELECT id FROM sky.stars" + _PADDING)


def test_a_process_ends_with_its_service() -> None:
    """The same holds if the service is killed during a translation."""
    script = """
import threading, time
from tests.tap_service.translation.test_translator import _ask, _SLOW
from tap_service.services.translation.translator import Translator
translator = Translator(600.0, is_kept_ready=True)
translator.start()
threading.Thread(target=_ask, args=(translator, _SLOW), daemon=True).start()
time.sleep(1)
print([process.pid for process in translator._processes][0], flush=True)
time.sleep(600)
"""
    service = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, cwd=os.getcwd())
    assert service.stdout is not None
    pid = service.stdout.readline().strip()
    assert said_by(pid, "cmdline")
    service.kill()
    service.communicate()
    while said_by(pid, "cmdline"):
        time.sleep(0.1)
