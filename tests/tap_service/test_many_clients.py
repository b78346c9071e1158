"""Twenty simultaneous clients of one real server get the right answers, over few connections that are reused."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from tap_service.config import Config
from tap_service.storage.open_storage import open_remote_engine
from tests.servers.clickhouse_server import ClickHouseServer
from tests.support.running_service import RunningService, running_service
from tests.tap_service.storage.failing_proxy import FailingProxy, failing_proxy

CLIENTS, ROUNDS = 20, 4


@pytest.fixture(scope="module")
def between(clickhouse: ClickHouseServer) -> Iterator[FailingProxy]:
    """Counts the connections and the statements."""
    with failing_proxy(clickhouse.port) as proxy:
        yield proxy


@pytest.fixture(scope="module")
def service(between: FailingProxy, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    folder: Path = tmp_path_factory.mktemp("jobs")
    config = Config(
        query_log="",
        clickhouse_url=between.url,
        jobs_path=folder,
        concurrent_queries=CLIENTS,
        client_running_queries=2 * CLIENTS,
    )
    engine = open_remote_engine(config)
    with running_service(config, engine) as service:
        yield service
    engine.close()


def ask_in_turn(service: RunningService, number: int) -> int:
    """Send queries of each kind, whose answers only this client expects; return their number."""
    with httpx.Client(timeout=60) as http:

        def ask(query: str, status: int = 200, **files: tuple[str, bytes]) -> list[str]:
            more = {"UPLOAD": f"mine,param:{next(iter(files))}"} if files else {}
            data = {"LANG": "ADQL", "FORMAT": "csv", "QUERY": query, **more}
            answer = http.post(service.sync, data=data, files=files or None)
            assert answer.status_code == status, answer.text
            return answer.text.split()

        for turn in range(ROUNDS):
            first = 1000 * (CLIENTS * turn + number)
            rows = f"SELECT n FROM svc.numbers WHERE n >= {first} AND n < {first + 10 + number} ORDER BY n"
            assert ask(rows) == ["n", *map(str, range(first, first + 10 + number))]
            assert ask(f"SELECT TOP {number + 1} n + {first} AS n FROM svc.numbers WHERE n < 50 ORDER BY n") == [
                "n",
                *map(str, range(first, first + number + 1)),
            ]
            assert f"'no{first}'" in " ".join(ask(f"SELECT CAST('no{first}' AS INTEGER) AS n FROM svc.numbers", 400))
        own = "".join(f"{number + row}\n" for row in range(number + 1)).encode()
        total = (number + 1) * number + number * (number + 1) // 2
        found = ask("SELECT COUNT(*) AS c, SUM(v) AS s FROM TAP_UPLOAD.mine", file=("mine.csv", b"v\n" + own))
        assert found == ["c,s", f"{number + 1},{total}"]
    return 3 * ROUNDS + 1


def test_no_answer_goes_to_another_client(service: RunningService, between: FailingProxy) -> None:
    with ThreadPoolExecutor(CLIENTS) as clients:
        asked = sum(clients.map(lambda number: ask_in_turn(service, number), range(CLIENTS)))
    assert asked == CLIENTS * (3 * ROUNDS + 1)
    assert len(between.statements) > asked
    # one for each client, and some for the service's queries
    assert between.connections <= 2 * CLIENTS
