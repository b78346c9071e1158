"""Definitions that threads change concurrently, on file systems with and without links."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tap_service.storage.engine.definition_files import DefinitionFiles
from tap_service.storage.engine.engine import StorageFull

WHOLE = "ATTACH TABLE _ UUID 'x' (`a` Int64) ENGINE = MergeTree ORDER BY a\n"
ALTER = "ALTER TABLE sky.stars MODIFY COMMENT ''"


@pytest.fixture
def definition(tmp_path: Path) -> Path:
    """The definition of the table ``sky.stars`` in the engine's folder ``tmp_path``."""
    definition = tmp_path / "metadata/sky/stars.sql"
    definition.parent.mkdir(parents=True)
    definition.write_text(WHOLE)
    return definition


def empty(definition: Path) -> Callable[[str], None]:
    """Return a run of a statement that leaves the definition empty, as the engine does on a full disk."""

    def run(_sql: str) -> None:
        written = definition.with_suffix(".tmp")
        written.write_text("")
        written.replace(definition)

    return run


def test_threads_that_change_a_table_at_once_lose_no_definition(tmp_path: Path, definition: Path) -> None:
    files = DefinitionFiles(tmp_path)

    def change(number: int) -> bool:
        """Change the definition; every third change is lost."""
        try:
            files.write_definition(ALTER, lambda sql: time.sleep(0.0005) if number % 3 else empty(definition)(sql))
        except StorageFull:
            return False
        return True

    with ThreadPoolExecutor(6) as threads:
        done = list(threads.map(change, range(300)))

    assert done == [bool(number % 3) for number in range(300)]
    assert definition.read_text() == WHOLE
    assert not list((tmp_path / "changed_definitions").iterdir())


def test_a_definition_is_kept_on_a_file_system_without_links(
    tmp_path: Path, definition: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_names: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    with pytest.raises(StorageFull):
        DefinitionFiles(tmp_path).write_definition(ALTER, empty(definition))
    assert definition.read_text() == WHOLE
    for table, text in (("000", "1"), ("111", "")):
        (tmp_path / "store" / table / table).mkdir(parents=True)
        (tmp_path / "store" / table / table / "format_version.txt").write_text(text)
    DefinitionFiles(tmp_path).repair_files()
    assert (tmp_path / "store/111/111/format_version.txt").read_text() == "1"


def test_a_foreign_file_among_what_was_put_aside_does_not_stop_the_start(tmp_path: Path, definition: Path) -> None:
    definition.write_text("")
    aside = tmp_path / "put_aside"
    aside.mkdir()
    for name in ("README", "0007-sky.other.sql", "²-notes", ".nfs-1"):
        (aside / name).touch()
    DefinitionFiles(tmp_path).repair_files()
    assert (aside / "0008-sky.stars.sql").exists()
    assert not definition.exists()
