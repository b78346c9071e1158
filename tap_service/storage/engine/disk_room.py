"""Free space on the disk of the embedded engine, which reports no failed write (``definition_files``).

Rows of loads leave ``choose_spare`` bytes free, each part of other rows ``choose_part_spare``, and definitions a
megabyte; the engine starts a merge only if half of the free space remains. So after a load that fills the disk
everything else works, and tables can be dropped: a part with the few rows of the catalogue needs a megabyte, which the
engine reserves.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from tap_service.storage.engine.engine import StorageFull

_MAX_SPARE = 64 << 20

#: free space required in addition to the size of a definition, which grows with the record of the table's loads
_DEFINITION_ROOM = 1 << 20


def choose_spare(path: Path) -> int:
    """Return how many bytes loads leave free on the disk of ``path``: 64 MB, or a tenth of a small disk."""
    return min(_MAX_SPARE, shutil.disk_usage(path).total // 10)


def choose_part_spare(path: Path) -> int:
    """Return how many bytes each part of inserted rows leaves free."""
    return choose_spare(path) // 4


def require_room_for_rows(path: Path, size: int) -> None:
    """Raise StorageFull if fewer than ``size`` bytes are free in addition to the spare ones."""
    _require_room(path, size + choose_spare(path), "to add rows")


def require_room_for_definition(path: Path, size: int) -> None:
    """Raise StorageFull if there is no space for a definition of ``size`` bytes."""
    _require_room(path, size + min(_DEFINITION_ROOM, choose_spare(path) // 8), "to change a definition")


def _require_room(path: Path, needed: int, purpose: str) -> None:
    free = shutil.disk_usage(path).free
    if free < needed:
        raise StorageFull(f"{purpose}, {needed / 1e6:,.1f} MB must be free, and {free / 1e6:,.1f} MB are")
