"""Symbolic links of the embedded engine's data, which replace the folders of a copy.

ClickHouse finds a database by the link ``metadata/DATABASE`` and a table by ``data/DATABASE/TABLE``; both point to
folders in ``store``. A copy that followed the links (``cp -L``, some backup tools) has these folders twice, and the
engine does not start with it.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

_DATABASE_ID = re.compile(r"^ATTACH DATABASE \S+ UUID '([0-9a-f-]{36})'", re.MULTILINE)
_TABLE_ID = re.compile(r"^ATTACH \w[\w ]*? _ UUID '([0-9a-f-]{36})'", re.MULTILINE)


def restore_links(path: Path) -> None:
    """Replace copied folders by links.

    Parameters
    ----------
    path : Path
        A directory of ClickHouse, which no process uses.

    Raises
    ------
    OSError
        The directory cannot be changed.
    """
    for definition in sorted((path / "metadata").glob("*.sql")):
        database = definition.with_suffix("")
        stored = _find_stored(path, _DATABASE_ID, definition)
        if stored is None or database.is_symlink() or not database.is_dir():
            continue
        for table in stored.glob("*.sql"):
            folder = path / "data" / database.name / table.stem
            of_table = _find_stored(path, _TABLE_ID, table)
            if of_table is not None and folder.is_dir() and not folder.is_symlink():
                _replace_by_link(folder, of_table)
        _replace_by_link(database, stored)


def _find_stored(path: Path, pattern: re.Pattern[str], definition: Path) -> Path | None:
    """Return the folder in ``store`` that a definition names, None if it does not exist."""
    found = pattern.search(definition.read_text(encoding="utf-8", errors="replace"))
    if found is None:
        return None
    folder = path / "store" / found[1][:3] / found[1]
    return folder if folder.is_dir() else None


def _replace_by_link(folder: Path, stored: Path) -> None:
    """Replace a folder; if the process is killed in between, the engine's start makes the link."""
    aside = folder.with_name(f"{folder.name}.copy")
    folder.rename(aside)
    folder.symlink_to(os.path.relpath(stored, folder.parent))
    shutil.rmtree(aside)
