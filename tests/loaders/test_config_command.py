"""``skyhouse config`` and ``--config``."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from loaders.cli.skyhouse_command import app
from loaders.control.settings_check import find_problems
from tap_service.config import Config
from tap_service.constants import VERSION
from tests.support.ports import free_port


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A valid settings file; the effect of --config is undone."""
    for name in [name for name in os.environ if name.startswith("SKYHOUSE_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("SKYHOUSE_CONFIG", "")
    path = tmp_path / "skyhouse.toml"
    path.write_text(f'data = "{tmp_path}/data"\nport = {free_port()}\ntitle = "Ours"\n')
    return path


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_show(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SKYHOUSE_CLICKHOUSE_PASSWORD", "secret")
    shown = run("--config", file, "config", "show")
    lines = {line.split(" = ")[0]: line for line in shown.stdout.splitlines()}
    assert list(lines) == list(Config.model_fields)
    assert lines["title"].split("  ", 1)[0] == 'title = "Ours"'
    assert lines["title"].endswith(f"# {file}, line 3")
    assert lines["contact"].endswith("# default")
    assert lines["clickhouse_password"].endswith("# SKYHOUSE_CLICKHOUSE_PASSWORD")
    assert "secret" not in shown.stdout


def test_check(file: Path) -> None:
    checked = run("config", "check", file)
    assert (checked.exit_code, checked.stdout) == (0, f"the settings can be used: {file} and the environment\n")


def test_unknown_variables(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A variable that resembles a setting is an error; others are only reported, by both commands."""
    monkeypatch.setenv("SKYHOUSE_SERVICE_HOST", "10.0.0.1")
    warning = "warning: SKYHOUSE_SERVICE_HOST is ignored: it is not a setting; docs/configuration.md lists the settings"
    for command in ("check", "show"):
        checked = run("--config", file, "config", command)
        assert (checked.exit_code, checked.stderr.splitlines()) == (0, [warning])
    monkeypatch.setenv("SKYHOUSE_ANONYMUS", "true")
    checked = run("config", "check", file)
    error = "error: SKYHOUSE_ANONYMUS is not a setting: did you mean SKYHOUSE_ANONYMOUS?"
    assert (checked.exit_code, checked.stderr.splitlines()) == (1, [warning, error])


def test_check_of_what_settings_name(file: Path, tmp_path: Path) -> None:
    """Each problem is reported with its setting and where it is set, and nothing is created."""
    (tmp_path / "file").write_text("no address\n")
    port = free_port()
    file.write_text(
        f'data = "{tmp_path}/file/data"\nspool_path = "{tmp_path}/spool"\nquery_log = "{tmp_path}"\n'
        f'token_issuers = "{tmp_path}/issuers.yaml"\nclickhouse_url = "http://127.0.0.1:{port}"\n'
        f'redis_url = "redis://127.0.0.1:{port}/0"\nresults_url = "{tmp_path}/file"\nhost = "192.0.2.1"\n'
        f'request_log = "{tmp_path}/logs/requests"\nblocked = "{tmp_path}/file"\nusage = "{tmp_path}/file/usage"\n'
        f'registry = "{tmp_path}/registry.yaml"\npublic_url = "https://tap.example.org"\nport = {free_port()}\n'
    )
    checked = run("config", "check", file)
    assert checked.exit_code == 1
    said = {line.split()[1]: line for line in checked.stderr.splitlines()}
    assert list(said) == [
        *("data", "port", "token_issuers", "blocked", "registry", "query_log", "request_log", "usage"),
        *("spool_path", "results_url", "redis_url", "clickhouse_url"),
    ]
    assert said["data"] == f"error: data ({file}, line 1): {tmp_path}/file is a file, not a folder"
    assert "create it, or name another one" in said["spool_path"]
    assert f"the folder {tmp_path}/logs does not exist: create it, or name another file" in said["request_log"]
    assert f"{tmp_path}/file, line 1: 'no address' does not appear to be" in said["blocked"]
    assert f"{tmp_path}/registry.yaml: cannot be read: No such file" in said["registry"]
    assert not (tmp_path / "spool").exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_check_of_rights(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    assert "may not make" in dict(find_problems(Config(data=tmp_path / "data", port=free_port())))["data"]


def test_an_occupied_port_is_the_service(file: Path, tmp_path: Path) -> None:
    port = free_port()
    with socket.create_server(("127.0.0.1", port)):
        assert find_problems(Config(data=tmp_path, port=port)) == []


def test_commands_change_the_files_that_the_settings_name(file: Path, tmp_path: Path) -> None:
    """The service reads these files, not the files in the data directory."""
    blocked = tmp_path / "site" / "blocked.txt"
    file.write_text(f'{file.read_text()}blocked = "{blocked}"\nclient_limits = ["@survey=16/400"]\n')
    assert run("--config", file, "block", "192.0.2.7").exit_code == 0
    assert blocked.read_text() == "192.0.2.7/32\n"
    assert run("--config", file, "block").stdout == "192.0.2.7/32\t\n"
    assert run("--config", file, "unblock", "192.0.2.7").exit_code == 0
    assert not (tmp_path / "data" / "blocked.txt").exists()
    limits = ("--config", file, "user", "limits", "institute:bob")
    assert "note:" not in run(*limits, "@survey").stderr
    assert "note: the setting client_limits has no @surve here" in run(*limits, "@surve").stderr


def test_every_command_reports_errors_in_settings(file: Path) -> None:
    file.write_text("port = 0\nanonymus = true\n")
    for command in (("tables",), ("serve",), ("config", "show"), ("config", "check"), ("user", "list")):
        refused = run("--config", file, *command)
        assert refused.exit_code == 1
        assert refused.stderr.splitlines() == [
            f"error: {file}, line 2: anonymus is not a setting: did you mean anonymous?",
            f"error: {file}, line 1: port cannot be used: Input should be greater than or equal to 1",
        ]
    assert run("--config", file, "serve", "--help").exit_code == 0


def test_commands_use_the_file(file: Path, tmp_path: Path) -> None:
    file.write_text(f'data = "{tmp_path}/data"\naccounts = "{tmp_path}/users.sqlite"\n')
    added = CliRunner().invoke(app, ["--config", str(file), "user", "add", "kepler"], input="secret words\n")
    assert added.stdout == "kepler may use the service\n", added.stderr
    assert (tmp_path / "users.sqlite").exists()
    assert not (tmp_path / "data").exists()


def test_the_version() -> None:
    assert run("--version").stdout == f"skyhouse {VERSION}\n"


def test_a_template_of_another_name() -> None:
    refused = run("config", "template", "x")
    assert refused.exit_code == 2
    assert "there is no file x; there are skyhouse.toml" in refused.stderr
