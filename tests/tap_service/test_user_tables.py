"""Users' own tables, as pyvo, STILTS and plain HTTP clients use them."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import httpx
import pytest
import pyvo
import requests
from pyvo.utils.prototype import activate_features

from tap_service.storage.accounts import Accounts
from tests.tap_service.asking import Job
from tests.tap_service.conftest import Served

activate_features("cadc-tb-upload")

DEFINITION = """<?xml version="1.0" encoding="UTF-8"?>
<vosi:table xmlns:vosi="http://www.ivoa.net/xml/VOSITables/v1.0" xmlns:vod="http://www.ivoa.net/xml/VODataService/v1.1"
  xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" type="table" version="1.1">
  <name>mydb.stars</name>
  <description>Stars of mine</description>
  <column><name>id</name><dataType xsi:type="vod:VOTableType">long</dataType></column>
  <column><name>ra</name><unit>deg</unit><ucd>pos.eq.ra;meta.main</ucd>
    <dataType xsi:type="vod:VOTableType">double</dataType></column>
  <column><name>dec</name><unit>deg</unit><ucd>pos.eq.dec;meta.main</ucd>
    <dataType xsi:type="vod:VOTableType">double</dataType></column>
  <column><name>name</name><description>What I call it</description>
    <dataType xsi:type="vod:VOTableType" arraysize="30*">unicodeChar</dataType></column>
</vosi:table>
"""

ROWS = "id\tra\tdec\tname\n1\t10.5\t20.5\talpha\n2\t11.5\t-20.5\tβ\n"

USERS = {"alice": "correct horse", "bob": "battery staple", "carol": "third password"}


@pytest.fixture(scope="module")
def accounts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path: Path = tmp_path_factory.mktemp("accounts") / "accounts.sqlite"
    opened = Accounts(path)
    for name, password in USERS.items():
        opened.add(name, password)
    opened.close()
    return path


@pytest.fixture(scope="module")
def own(serve: Callable[..., Served], accounts: Path) -> Served:
    """A service whose users have tables."""
    return serve(accounts=accounts)


class User:
    """One who asks, with pyvo and without."""

    def __init__(self, service: Served, name: str) -> None:
        self.tap = service.tap
        self.auth = (name, USERS[name])
        session = requests.Session()
        session.auth = self.auth
        self.vo = pyvo.dal.TAPService(service.tap, session=session)

    def http(self, method: str, path: str, **options: Any) -> httpx.Response:
        return httpx.request(method, f"{self.tap}/{path}", auth=self.auth, verify=False, timeout=60, **options)

    def rows(self, query: str) -> list[list[str]]:
        answer = self.http("POST", "sync", data={"LANG": "ADQL", "FORMAT": "csv", "QUERY": query})
        assert answer.status_code == 200, answer.text
        return [line.split(",") for line in answer.text.splitlines()[1:]]

    def refused(self, query: str) -> str:
        answer = self.http("POST", "sync", data={"LANG": "ADQL", "QUERY": query})
        assert answer.status_code == 400, answer.text
        return answer.text

    def put(self, name: str, content: str | bytes, kind: str = "text/csv", **parameters: str) -> httpx.Response:
        return self.http("PUT", f"tables/{name}", content=content, headers={"Content-Type": kind}, params=parameters)

    def load(self, name: str, content: str | bytes, kind: str = "text/csv", **parameters: str) -> httpx.Response:
        return self.http("POST", f"load/{name}", content=content, headers={"Content-Type": kind}, params=parameters)

    def job(self, path: str, **parameters: str) -> Job:
        answer = self.http("POST", path, data=parameters)
        assert answer.status_code == 303, answer.text
        return Job(answer.headers["location"], self.auth)


@pytest.fixture
def alice(own: Served) -> Any:
    yield from cleaned(own, "alice")


@pytest.fixture
def bob(own: Served) -> Any:
    yield from cleaned(own, "bob")


def cleaned(own: Served, name: str) -> Any:
    user = User(own, name)
    yield user
    for table in user.http("GET", "mydb").json()["tables"]:
        assert user.http("DELETE", f"tables/{table['name']}").status_code == 204


def test_the_life_of_a_table_with_pyvo(alice: User) -> None:
    alice.vo.create_table("mydb.stars", BytesIO(DEFINITION.encode()))
    assert alice.vo.search("SELECT * FROM mydb.stars").to_table().colnames == ["id", "ra", "dec", "name"]
    alice.vo.load_table("mydb.stars", BytesIO(ROWS.encode()), format="tsv")
    alice.vo.load_table("mydb.stars", BytesIO(b"name,id,ra,dec\ngamma,3,0,0\n"), format="csv")
    table = alice.vo.search("SELECT * FROM mydb.stars ORDER BY id").to_table()
    assert table["name"].tolist() == ["alpha", "β", "gamma"]
    assert table["ra"].unit == "deg"
    alice.vo.create_index("mydb.stars", "id", unique=True)
    alice.vo.create_index("mydb.stars", "name")
    described = alice.vo.tables["mydb.stars"]
    assert described.description == "Stars of mine"
    assert [column.name for column in described.columns if "indexed" in column.flags] == ["id", "ra", "dec", "name"]
    assert alice.vo.search("SELECT name FROM mydb.stars WHERE id = 2").to_table()["name"].tolist() == ["β"]
    alice.vo.remove_table("mydb.stars")
    assert "there is no table mydb.stars" in alice.refused("SELECT * FROM mydb.stars")
