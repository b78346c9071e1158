"""Folders of a catalogue of which only the paths of the files are known."""

from __future__ import annotations

from collections.abc import Iterable


def list_folder(paths: Iterable[str], folder: str) -> list[str]:
    """Return the names in a folder, those of folders with a slash at the end; none if there is no such folder."""
    start = f"{folder.strip('/')}/".lstrip("/")
    rests = (path[len(start) :] for path in paths if path.startswith(start))
    return sorted({first + slash for first, slash, _ in (rest.partition("/") for rest in rests)})
