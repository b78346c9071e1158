"""Files of one version, opened by the next version."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path

import pytest

from tap_service.storage.accounts import AccountError, Accounts, AccountsUnavailable
from tap_service.storage.sqlite_versions import LaterVersion, Step, execute_script, read_version, upgrade_file

FIRST = execute_script("CREATE TABLE IF NOT EXISTS star (name TEXT); CREATE INDEX IF NOT EXISTS names ON star (name);")
SECOND = execute_script("ALTER TABLE star ADD COLUMN mag REAL; UPDATE star SET mag = 1.5;")


def open_file(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=30)


@pytest.fixture
def old_file(tmp_path: Path) -> Path:
    """A file of the first release, which left the version at 0."""
    path = tmp_path / "stars.sqlite"
    connection = open_file(path)
    connection.execute("CREATE TABLE star (name TEXT)")
    connection.execute("INSERT INTO star VALUES ('Vega')")
    connection.close()
    return path


def test_an_old_file_is_copied_and_upgraded(old_file: Path) -> None:
    connection = open_file(old_file)
    upgrade_file(connection, old_file, [FIRST, SECOND])
    assert connection.execute("SELECT name, mag FROM star").fetchall() == [("Vega", 1.5)]
    assert read_version(connection) == 2
    copy = old_file.with_name("stars.sqlite.version-0")
    assert copy.stat().st_mode & 0o777 == 0o600
    old = open_file(copy)
    assert old.execute("SELECT * FROM star").fetchall() == [("Vega",)]
    upgrade_file(connection, old_file, [FIRST, SECOND])
    connection.close()
    old.close()
    assert sorted(path.name for path in old_file.parent.iterdir()) == ["stars.sqlite", "stars.sqlite.version-0"]


def test_a_new_file_needs_no_copy(tmp_path: Path) -> None:
    path = tmp_path / "new.sqlite"
    connection = open_file(path)
    upgrade_file(connection, path, [FIRST, SECOND])
    connection.close()
    assert [file.name for file in tmp_path.iterdir()] == ["new.sqlite"]


def test_a_failed_step_leaves_the_file_unchanged(old_file: Path) -> None:
    def fail(connection: sqlite3.Connection) -> None:
        connection.execute("DELETE FROM star")
        raise OSError(28, "No space left on device")

    connection = open_file(old_file)
    with pytest.raises(OSError, match="No space"):
        upgrade_file(connection, old_file, [FIRST, fail])
    assert connection.execute("SELECT * FROM star").fetchall() == [("Vega",)]
    assert read_version(connection) == 0
    connection.close()


def test_a_later_version_is_refused(old_file: Path) -> None:
    connection = open_file(old_file)
    upgrade_file(connection, old_file, [FIRST, SECOND])
    with pytest.raises(
        LaterVersion, match=r"stars\.sqlite was made by a later version .* \(its version is 2, .* knows 1\)"
    ):
        upgrade_file(connection, old_file, [FIRST])
    connection.close()


def test_processes_that_open_a_file_concurrently_upgrade_it_once(old_file: Path) -> None:
    calls: list[int] = []

    def second(connection: sqlite3.Connection) -> None:
        calls.append(1)
        SECOND(connection)

    steps: list[Step] = [FIRST, second]
    connections = [open_file(old_file) for _ in range(4)]
    threads = [threading.Thread(target=upgrade_file, args=(each, old_file, steps)) for each in connections]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(calls), {read_version(each) for each in connections}) == (1, {2})
    for each in connections:
        each.close()


def test_accounts_of_a_later_version_say_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "accounts.sqlite"
    Accounts(path).close()
    connection = open_file(path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(AccountError, match=r"later version of Skyhouse .* install that version"):
        Accounts(path)


def test_a_change_blocked_by_readers_leaves_the_connection_usable(tmp_path: Path) -> None:
    """COMMIT fails while another process reads: the change is undone, and the next one works."""
    path = tmp_path / "users.sqlite"
    accounts = Accounts(path)
    accounts.add_user("alice", "correct horse")
    accounts._connection.execute("PRAGMA busy_timeout = 0")
    reader = open_file(path)
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM user").fetchall()
    with pytest.raises(AccountsUnavailable, match=r"users\.sqlite cannot be written now: database is locked"):
        accounts.add_token("alice", "laptop", 1)
    reader.execute("COMMIT")
    reader.close()
    token = accounts.add_token("alice", "desk", 1)
    assert [each.label for each in accounts.list_tokens("alice")] == ["desk"]
    assert accounts.find_by_token(token) is not None
    accounts.close()
