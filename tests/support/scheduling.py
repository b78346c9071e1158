"""A pytest plugin that keeps each worker in the folder it has begun, where it has servers, a browser and tables."""

from __future__ import annotations

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling
from xdist.workermanage import WorkerController


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadFileScheduling | None:
    return FolderScheduling(config, log) if config.getoption("dist") == "loadfile" else None


class FolderScheduling(LoadFileScheduling):
    """Take the first file of the worker's folders, then of folders that nobody has begun, then of any folder."""

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
    """Return the folder below tests that contains a test file, such as tests/adql."""
    return "/".join(file.split("/")[:2])
