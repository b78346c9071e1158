"""Health: live and ready."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from tap_service.storage.accounts import Accounts
from tests.support.running_service import RunningService


def test_a_service_that_works_is_live_and_ready(service: RunningService) -> None:
    for path, said in (("live", {"live": True}), ("ready", {"ready": True, "reasons": []})):
        answer = httpx.get(f"{service.url}/health/{path}")
        assert (answer.status_code, answer.json(), answer.headers["Cache-Control"]) == (200, said, "no-store")
        assert httpx.head(f"{service.url}/health/{path}").status_code == 200
        assert httpx.post(f"{service.url}/health/{path}").status_code == 405


def test_a_service_that_lacks_a_part_is_live_and_not_ready(
    serve: Callable[..., RunningService], tmp_path: Path
) -> None:
    """The service is ready again as soon as the part is available."""
    spool = tmp_path / "spool"
    broken = serve(spool_path=spool)
    answer = httpx.get(f"{broken.url}/health/ready")
    assert answer.status_code == 503
    assert answer.json() == {
        "ready": False,
        "reasons": ["the store for results is unavailable: No such file or directory"],
    }
    assert httpx.get(f"{broken.url}/health/live").status_code == 200
    spool.mkdir()
    while httpx.get(f"{broken.url}/health/ready").status_code != 200:
        pass


def test_health_is_public(serve: Callable[..., RunningService], tmp_path: Path) -> None:
    Accounts(tmp_path / "accounts.sqlite").close()
    closed = serve(anonymous=False, accounts=tmp_path / "accounts.sqlite")
    for path in ("live", "ready"):
        assert httpx.get(f"{closed.url}/health/{path}").status_code == 200


def test_probes_share_a_check(serve: Callable[..., RunningService], monkeypatch: pytest.MonkeyPatch) -> None:
    service = serve()
    checks = []
    services = service.server.config.app.state.services
    check = services.availability.check_availability

    async def counted() -> object:
        checks.append(1)
        return await check()

    monkeypatch.setattr(services.availability, "check_availability", counted)
    with httpx.Client() as client, ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda _: client.get(f"{service.url}/health/ready").status_code, range(40)))
    assert answers == [200] * 40
    assert len(checks) < 20
