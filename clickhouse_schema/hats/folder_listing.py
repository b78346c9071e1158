"""The folders of a catalogue, derived from the paths of its files."""

from __future__ import annotations

from collections.abc import Iterable


def list_folder(paths: Iterable[str], folder: str) -> list[str]:
    """Return the names in a folder, with a slash after names of folders; none if there is no such folder."""
    start = f"{folder.strip('/')}/".lstrip("/")
    rests = (path[len(start) :] for path in paths if path.startswith(start))
    return sorted({first + slash for first, slash, _ in (rest.partition("/") for rest in rests)})
