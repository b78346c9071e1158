"""Directories that only this user may enter."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tap_service.storage.jobs.sqlite_job_store import SqliteJobStore
from tap_service.storage.private_directory import OpenDirectoryError, create_private_directory
from tap_service.storage.results.local_result_store import LocalResultStore


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o7777


@pytest.mark.parametrize("before", [0o755, 0o777, 0o770, 0o701, 0o2750])
def test_an_open_directory_is_closed(tmp_path: Path, before: int, caplog: pytest.LogCaptureFixture) -> None:
    made = tmp_path / "data"
    made.mkdir()
    made.chmod(before)
    create_private_directory(made)
    assert mode(made) == before & 0o7700
    assert f"{made} was open to other users" in caplog.text
    caplog.clear()
    create_private_directory(made)
    assert not caplog.text


def test_the_stores_use_them(tmp_path: Path) -> None:
    for folder in ("jobs", "results"):
        (tmp_path / folder).mkdir(mode=0o755)
    SqliteJobStore(tmp_path / "jobs").close()
    LocalResultStore(tmp_path / "results")
    assert (mode(tmp_path / "jobs"), mode(tmp_path / "results")) == (0o700, 0o700)


@pytest.mark.parametrize(("before", "is_refused"), [(0o755, True), (0o771, True), (0o770, False), (0o2750, False)])
def test_a_directory_of_another_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: int, is_refused: bool
) -> None:
    """Its group may give this user access; other users must have none."""
    made = tmp_path / "volume"
    made.mkdir()
    made.chmod(before)
    monkeypatch.setattr(os, "geteuid", lambda: made.stat().st_uid + 1)
    if is_refused:
        with pytest.raises(OpenDirectoryError, match=f"chmod o-rwx {made}"):
            create_private_directory(made)
    else:
        create_private_directory(made)
    assert mode(made) == before


def test_a_directory_of_all_users_is_unchanged(tmp_path: Path) -> None:
    """Root owns /tmp: without its modes, nobody else could work."""
    shared = tmp_path / "tmp"
    shared.mkdir()
    shared.chmod(0o1777)
    with pytest.raises(OpenDirectoryError, match=f"^all users of this machine share {shared}: give a folder in it$"):
        create_private_directory(shared)
    assert mode(shared) == 0o1777
    create_private_directory(shared / "data")
    assert mode(shared / "data") == 0o700
