"""Users with tables, as pyvo and plain HTTP clients."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pyvo
import requests

from clickhouse_schema.engine_tables import user_table_record
from tap_service.storage.accounts import Accounts
from tap_service.storage.engine.engine import Engine
from tests.tap_service.async_client import Job

if TYPE_CHECKING:
    from tests.support.running_service import RunningService

USERS = {"alice": "correct-horse", "bob": "battery-staple", "carol": "of-the-cluster", "root": "administrator"}


def write_accounts(path: Path) -> Path:
    opened = Accounts(path)
    for name, password in USERS.items():
        opened.add_user(name, password, admin=name == "root")
    opened.close()
    return path


class User:
    def __init__(self, service: RunningService, name: str, password: str = "") -> None:
        self.tap = service.tap
        self.auth = (name, password or USERS[name])
        self.session = requests.Session()
        self.session.auth = self.auth
        self.vo = pyvo.dal.TAPService(service.tap, session=self.session)

    def http(self, method: str, path: str, **options: Any) -> httpx.Response:
        """Send a request without TLS verification: reading the certificates takes longer than most requests."""
        return httpx.request(method, f"{self.tap}/{path}", auth=self.auth, verify=False, timeout=60, **options)

    def ask(self, query: str, **parameters: str) -> httpx.Response:
        return self.http("POST", "sync", data={"LANG": "ADQL", "FORMAT": "csv", "QUERY": query, **parameters})

    def rows(self, query: str) -> list[list[str]]:
        answer = self.ask(query)
        assert answer.status_code == 200, answer.text
        return [line.split(",") for line in answer.text.splitlines()[1:]]

    def count(self, table: str) -> int:
        return int(self.rows(f"SELECT COUNT(*) AS n FROM {table}")[0][0])

    def put(self, name: str, content: Any, kind: str = "text/csv", **parameters: str) -> httpx.Response:
        return self.http("PUT", f"tables/{name}", content=content, headers={"Content-Type": kind}, params=parameters)

    def create_empty_table(self, name: str) -> None:
        """Create an empty table with one column, a."""
        definition = "<table><column><name>a</name><dataType>int</dataType></column></table>"
        answer = self.put(name, definition, "text/xml")
        assert answer.status_code == 201, answer.text

    def load(self, name: str, content: Any, kind: str = "text/csv", **parameters: str) -> httpx.Response:
        return self.http("POST", f"load/{name}", content=content, headers={"Content-Type": kind}, params=parameters)

    def job(self, path: str, **parameters: str) -> Job:
        answer = self.http("POST", path, data=parameters)
        assert answer.status_code == 303, answer.text
        return Job(answer.headers["location"], self.auth)

    def create_index(self, table: str, column: str, **parameters: str) -> Job:
        """Run a job that creates an index; return it when it has ended."""
        job = self.job("table-update", TABLE=table, INDEX=column, **parameters).run()
        job.wait_for_end()
        return job

    @property
    def tables(self) -> dict[str, Any]:
        return {table["name"]: table for table in self.http("GET", "mydb").json()["tables"]}


@contextmanager
def temporary_user(service: RunningService, name: str, password: str = "") -> Iterator[User]:
    """A user whose tables are dropped at the end."""
    found = User(service, name, password)
    yield found
    for table in found.tables:
        assert found.http("DELETE", f"tables/{table}").status_code == 204
    found.session.close()


def remove_user_tables(engine: Engine) -> None:
    """Remove tables that tests left in the schemas of users, because users of other files have the same names."""
    records = user_table_record.read_all_user_tables(engine)
    for record in records:
        user_table_record.remove_user_table(engine, record.owner, record.table.name)
        user_table_record.drop_storage(engine, record.storage)
    described = [name for record in records for name in record.descriptions]
    user_table_record.forget_user_tables(engine, described, [record.storage for record in records])
