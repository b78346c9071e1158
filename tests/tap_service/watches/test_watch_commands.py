"""The commands of operators for watches, and the mails that they allow."""

from __future__ import annotations

import json
import re
import socketserver
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from datetime import datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from loaders.cli.skyhouse_command import app
from loaders.control.admin_commands import Administration
from loaders.control.control_server import ControlServer
from tap_service.constants import ACCOUNTS_FILE
from tap_service.storage.history_store import HistoryUnavailable
from tests.servers.server_thread import run_server
from tests.support.running_service import RunningService
from tests.tap_service.users import USERS, write_accounts
from tests.tap_service.watches.alerts import TABLE, add_alerts, alerts_table
from tests.tap_service.watches.watcher import BRIGHT, Watcher


class Mailbox:
    def __init__(self) -> None:
        self.port = 0
        self.mails: list[str] = []


@contextmanager
def mail_server() -> Iterator[Mailbox]:
    """A mail server that accepts everything."""
    box = Mailbox()

    class Session(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            self.wfile.write(b"220 here\r\n")
            while line := self.rfile.readline():
                word = line[:4].upper()
                if word == b"DATA":
                    self.wfile.write(b"354 go on\r\n")
                    box.mails.append(b"".join(iter(self.rfile.readline, b".\r\n")).decode())
                self.wfile.write(b"221 bye\r\n" if word == b"QUIT" else b"250 ok\r\n")

    server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Session)
    server.daemon_threads = True
    box.port = server.server_address[1]
    with run_server(server):
        yield box


@pytest.fixture(scope="module")
def mailbox() -> Iterator[Mailbox]:
    with mail_server() as box:
        yield box


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data directory."""
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="module")
def alice(
    serve: Callable[..., RunningService], data: Path, mailbox: Mailbox, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Watcher]:
    accounts = write_accounts(data / ACCOUNTS_FILE)
    mail = {
        "smtp_host": "localhost",
        "smtp_port": mailbox.port,
        "smtp_security": "none",
        "smtp_from": "sky@example.org",
    }
    service = serve(jobs_path=data / "jobs", accounts=accounts, **mail)
    services = service.server.config.app.state.services
    watches = lambda: nullcontext(services.watches)  # noqa: E731
    administration = Administration(services.job_administration, services.work, watches)
    control = ControlServer(services.engine, data, services.catalogue_cache.refresh, administration)
    control.start()
    with alerts_table(service.engine, tmp_path_factory.mktemp("alerts")):
        service.refresh()
        yield Watcher(service, "alice")
    control.close()


@pytest.fixture
def run(alice: Watcher, data: Path) -> Callable[..., Any]:
    """Run a command; return its output, or its error."""

    def type_words(*words: str, fails: bool = False) -> Any:
        result = CliRunner().invoke(app, [*words, "--data", str(data)], catch_exceptions=False)
        assert result.exit_code == fails, result.output
        return json.loads(result.stdout) if "--json" in words else result.output

    return type_words


def test_an_operator_makes_and_removes_watches(alice: Watcher, run: Callable[..., Any], tmp_path: Path) -> None:
    [made] = run("watch", "add", "bright", "--user", "alice", "--query", BRIGHT, "--json")
    assert (made["table"], made["result"], made["secret"]) == (TABLE, "mydb.bright", None)
    add_alerts(alice.service.engine, tmp_path, 1000, 10)
    alice.wait({"id": made["watch"]}, "DONE")
    [listed] = run("watch", "list", "--json")
    assert (listed["user"], listed["rows"], listed["state"]) == ("alice", 2, "active")
    assert "paus" in run("watch", "pause", "bright")
    [paused] = run("watch", "show", "bright", "--user", "alice", "--json")
    assert (paused["state"], paused["runs"][0]["rows"]) == ("paused", 2)
    run("watch", "pause", made["watch"], "--off")
    assert "0 runs" in run("watch", "run", "bright")
    run("watch", "add", "bright", "--user", "bob", "--query", BRIGHT)
    assert "alice, bob have watches with the name bright" in run("watch", "show", "bright", fails=True)
    assert "there is no watch 'dim'" in run("watch", "remove", "dim", fails=True)
    assert "there is no user 'eve'" in run("watch", "add", "x", "--user", "eve", "--query", BRIGHT, fails=True)
    assert "mydb.bright stays" in run("watch", "remove", "bright", "--user", "alice")
    assert alice.ids("mydb.bright") == [1000, 1001]
    alice.remove_all()


def test_the_watches_of_a_user_end_with_the_user(alice: Watcher, run: Callable[..., Any]) -> None:
    run("watch", "add", "carols", "--user", "carol", "--query", BRIGHT)
    run("user", "remove", "carol")
    assert run("watch", "list", "--user", "carol", "--json") == []


def test_a_user_stays_until_all_is_removed(
    alice: Watcher, run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    alice.services.catalogue_cache._groups.accounts.add_user("dave", "a secret of dave")
    run("watch", "add", "daves", "--user", "dave", "--query", BRIGHT)
    monkeypatch.setattr("loaders.cli.user_removal.open_history_store", _fail)
    said = run("user", "remove", "dave", fails=True)
    assert "the history of dave is not removed: no room" in said
    assert "dave\tuser" in run("user", "list")
    monkeypatch.undo()
    assert "dave is removed" in run("user", "remove", "dave")
    assert "there is no user dave" in run("user", "remove", "dave", fails=True)


def _fail(*_: object) -> None:
    raise HistoryUnavailable("no room")


def test_a_watch_waits_for_an_owner_who_is_missing(alice: Watcher, run: Callable[..., Any], tmp_path: Path) -> None:
    """The file of users may be restored later than the watches."""
    [made] = run("watch", "add", "bobs", "--user", "bob", "--query", BRIGHT, "--json")
    accounts = alice.services.catalogue_cache._groups.accounts
    accounts.remove_user("bob")
    add_alerts(alice.service.engine, tmp_path, 3000, 10)
    alice.rounds.run_round()
    [waiting] = run("watch", "show", made["watch"], "--json")
    assert waiting["runs"] == []
    accounts.add_user("bob", USERS["bob"])
    Watcher(alice.service, "bob").wait({"id": made["watch"]}, "DONE")
    run("watch", "remove", made["watch"])


def test_mail_goes_to_the_address_of_the_account(
    alice: Watcher, run: Callable[..., Any], mailbox: Mailbox, tmp_path: Path
) -> None:
    assert "skyhouse user mail" in alice.watch(403, name="mailed", query=BRIGHT, mail=True)["message"]
    assert "is not a mail address" in run(
        "user", "mail", "alice", "alice@example.org\nBcc: eve@example.org", fails=True
    )
    assert "alice@example.org" in run("user", "mail", "alice", "alice@example.org")
    assert alice.http("GET", "watches").json()["mail"] == "alice@example.org"
    watch = alice.watch(name="mailed", query=BRIGHT, mail=True)
    add_alerts(alice.service.engine, tmp_path, 2000, 20)
    alice.wait(watch, "DONE")
    while alice.show(watch)["runs"][0]["deliveries"]["mail"]["state"] == "PENDING":
        alice.rounds.run_round()
    assert alice.show(watch)["runs"][0]["deliveries"]["mail"]["state"] == "DELIVERED"
    [mail] = mailbox.mails
    assert "To: alice@example.org" in mail
    assert "Subject: Skyhouse: 4 rows for the watch mailed" in mail
    assert re.search(rf"^Message-ID: <{watch['id']}-\d+-mail@example\.org>\r?$", mail, re.MULTILINE)
    [run] = alice.show(watch)["runs"]
    [date] = re.findall(r"^Date: (.+?)\r?$", mail, re.MULTILINE)
    assert parsedate_to_datetime(date) == datetime.fromisoformat(run["since"]).replace(microsecond=0)
    assert "SELECT * FROM mydb.mailed WHERE addition =" in mail
    assert "You can pause or remove the watch on the page Watches of the service's portal" in mail
    alice.remove_all()
