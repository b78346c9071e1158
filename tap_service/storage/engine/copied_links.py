"""Symbolic links of the embedded engine's data, made again in a copy that has folders in their place.

ClickHouse finds a database by the link ``metadata/DATABASE`` and a table by ``data/DATABASE/TABLE``; what they point
to is in ``store``. A copy that followed them (``cp -L``, some backup tools) has all of it twice, and does not start.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

_DATABASE_ID = re.compile(r"^ATTACH DATABASE \S+ UUID '([0-9a-f-]{36})'", re.MULTILINE)
_TABLE_ID = re.compile(r"^ATTACH \w[\w ]*? _ UUID '([0-9a-f-]{36})'", re.MULTILINE)


def restore_links(path: Path) -> None:
    """Replace the folders in ``path``, a directory of ClickHouse that no process uses. Raises OSError."""
    for definition in sorted((path / "metadata").glob("*.sql")):
        database = definition.with_suffix("")
        stored = _find_stored(path, _DATABASE_ID, definition)
        if stored is None or database.is_symlink() or not database.is_dir():
            continue
        for table in stored.glob("*.sql"):
            place = path / "data" / database.name / table.stem
            of_table = _find_stored(path, _TABLE_ID, table)
            if of_table is not None and place.is_dir() and not place.is_symlink():
                _replace_by_link(place, of_table)
        _replace_by_link(database, stored)


def _find_stored(path: Path, pattern: re.Pattern[str], definition: Path) -> Path | None:
    """Return the folder in ``store`` that a definition names, if it is there."""
    found = pattern.search(definition.read_text(encoding="utf-8", errors="replace"))
    if found is None:
        return None
    folder = path / "store" / found[1][:3] / found[1]
    return folder if folder.is_dir() else None


def _replace_by_link(place: Path, stored: Path) -> None:
    """Killed in between, the folder is there under another name, and the start makes the link."""
    aside = place.with_name(f"{place.name}.copy")
    place.rename(aside)
    place.symlink_to(os.path.relpath(stored, place.parent))
    shutil.rmtree(aside)
