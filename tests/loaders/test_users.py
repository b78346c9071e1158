"""``skyhouse user``, as an operator types it."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from loaders.cli.skyhouse_command import app
from tap_service.constants import ACCOUNTS_FILE
from tap_service.models.identity import Identity
from tap_service.storage.accounts import Accounts


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


def run(data: Path, *arguments: str, typed: str = "") -> Result:
    return CliRunner().invoke(app, ["user", *arguments, "--data", str(data)], input=typed)


def test_the_life_of_a_user(data: Path) -> None:
    assert run(data, "add", "alice", "--admin", typed="correct horse\n").exit_code == 0
    made = run(data, "token", "alice", "--label", "laptop", "--days", "2")
    accounts = Accounts(data / ACCOUNTS_FILE)
    assert accounts.find_by_password("alice", "correct horse") == Identity("alice", admin=True)
    assert accounts.find_by_token(made.stdout.strip()) == Identity("alice", admin=True)
    assert run(data, "list").stdout.startswith("alice\tadmin\tlaptop (until 20")
    assert run(data, "revoke", "alice", "laptop").exit_code == 0
    assert accounts.find_by_token(made.stdout.strip()) is None
    assert run(data, "remove", "alice").exit_code == 0
    assert accounts.list_accounts() == []
    accounts.close()


def test_classes_of_users(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SKYHOUSE_CLIENT_LIMITS", "@survey=16/400/200G")
    run(data, "add", "alice", typed="correct horse\n")
    assert run(data, "limits", "alice").stdout == "alice has the limits of @users\n"
    assert run(data, "limits", "alice", "@survey").stdout == "alice has the limits of @survey\n"
    other = run(data, "limits", "institute:bob", "@robots")
    assert other.stdout == "institute:bob has the limits of @robots\n"
    assert "note: the setting client_limits has no @robots here" in other.stderr
    accounts = Accounts(data / ACCOUNTS_FILE)
    assert accounts.list_classes() == {"alice": "@survey", "institute:bob": "@robots"}
    assert run(data, "limits", "institute:bob", "--none").stdout == "institute:bob has the limits of @users\n"
    run(data, "remove", "alice")
    assert accounts.list_classes() == {}
    accounts.close()


@pytest.mark.parametrize(
    ("arguments", "typed", "said"),
    [
        (["add", "a:b"], "long enough\n", "error: 'a:b' is not a valid user name"),
        (["add", "alice"], "short\n", "error: a password must have 8 to 1000 characters"),
        (["add", "alice"], "", "error: a password must have"),
        (["token", "nobody"], "", "error: there is no user nobody"),
        (["revoke", "nobody", "x"], "", "error: there is no user nobody"),
        (["remove", "nobody"], "", "error: there is no user nobody"),
        (["limits", "nobody", "@survey"], "", "error: there is no user nobody"),
        (["limits", "nobody", "survey"], "", "error: 'survey' is not a class that can be assigned"),
        (["limits", "nobody", "@anonymous"], "", "error: '@anonymous' is not a class that can be assigned"),
    ],
)
def test_errors_are_one_sentence(data: Path, arguments: list[str], typed: str, said: str) -> None:
    result = run(data, *arguments, typed=typed)
    assert result.exit_code == 1
    assert result.stderr.startswith(said)
    assert result.stderr.count("\n") == 1
