"""The folders of a catalogue, derived from the paths of its files."""

from __future__ import annotations

from collections.abc import Iterable


def list_folder(paths: Iterable[str], folder: str) -> list[str]:
    """Return the names in a folder.

    Parameters
    ----------
    paths : iterable of str
        Paths of all files, relative to the catalogue, with slashes.
    folder : str
        Path of the folder; '' for the catalogue itself.

    Returns
    -------
    list of str
        Sorted names, with a slash after names of folders; [] if there is no such folder.
    """
    start = f"{folder.strip('/')}/".lstrip("/")
    rests = (path[len(start) :] for path in paths if path.startswith(start))
    return sorted({first + slash for first, slash, _ in (rest.partition("/") for rest in rests)})
