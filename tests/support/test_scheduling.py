"""The file that a worker runs next."""

from __future__ import annotations

from collections import OrderedDict

from tests.support.scheduling import FolderScheduling

QUEUE = (
    "tests/adql/test_b.py",
    "tests/e2e/test_a.py",
    "tests/adql/test_c.py",
    "tests/e2e/test_d.py",
    "tests/web/test_e.py",
)


def choose(queue: tuple[str, ...], begun: dict[str, list[str]], worker: str) -> str:
    scheduling = FolderScheduling.__new__(FolderScheduling)
    scheduling.workqueue = OrderedDict((file, {}) for file in queue)
    scheduling.assigned_work = {name: {file: {} for file in files} for name, files in begun.items()}  # type: ignore[misc]
    return scheduling._choose_file(worker)  # type: ignore[arg-type]


def test_the_first_file_is_the_first_in_the_queue() -> None:
    assert choose(QUEUE, {"gw0": [], "gw1": []}, "gw0") == QUEUE[0]


def test_a_worker_goes_on_with_its_folder() -> None:
    assert choose(QUEUE, {"gw0": ["tests/e2e/test_0.py"], "gw1": []}, "gw0") == "tests/e2e/test_a.py"


def test_then_it_begins_another_folder() -> None:
    begun = {"gw0": ["tests/loaders/test_0.py"], "gw1": ["tests/adql/test_0.py"], "gw2": ["tests/e2e/test_0.py"]}
    assert choose(QUEUE, begun, "gw0") == "tests/web/test_e.py"


def test_then_it_helps_with_the_longest() -> None:
    begun = {"gw0": ["tests/web/test_0.py"], "gw1": ["tests/adql/test_0.py"], "gw2": ["tests/e2e/test_0.py"]}
    assert choose(QUEUE[:-1], begun, "gw0") == "tests/adql/test_b.py"
