"""pytest plugin: a worker goes on with the folder that it has begun, whose servers, browser and tables it has."""

from __future__ import annotations

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling
from xdist.workermanage import WorkerController


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadFileScheduling | None:
    return FolderScheduling(config, log) if config.getoption("dist") == "loadfile" else None


class FolderScheduling(LoadFileScheduling):
    """Files of the worker's folders first, then of folders that nobody has begun, then any; the first in the queue of each."""

    def _assign_work_unit(self, node: WorkerController) -> None:
        self.workqueue.move_to_end(self._choose_file(node), last=False)
        super()._assign_work_unit(node)

    def _choose_file(self, node: WorkerController) -> str:
        begun = {each: {name_folder(file) for file in files} for each, files in self.assigned_work.items()}
        mine = begun.get(node, set())
        all_ = set().union(*begun.values())
        return min(
            self.workqueue,
            key=lambda file: 0 if name_folder(file) in mine else 1 if name_folder(file) not in all_ else 2,
        )


def name_folder(file: str) -> str:
    """Return the folder below tests that a test file is in, such as tests/adql."""
    return "/".join(file.split("/")[:2])
