"""The names and files of the shipped standard schemas."""

from __future__ import annotations

from pathlib import Path

from loaders.load_error import LoadError

_SCHEMA_FOLDER = Path(__file__).parents[1] / "schemas"


def list_schema_names() -> list[str]:
    """Return the names of the shipped schemas, sorted."""
    return sorted(path.stem for path in _SCHEMA_FOLDER.glob("*.yaml"))


def find_schema_file(name: str) -> Path:
    """Return the file of a shipped schema.

    Parameters
    ----------
    name : str
        One of ``list_schema_names``.

    Returns
    -------
    Path
        Path of the installed file.

    Raises
    ------
    LoadError
        There is no shipped schema with this name.
    """
    return _find_shipped_file(name, ".yaml")


def find_example_file(name: str) -> Path:
    """Return the CSV file with example rows for a shipped schema.

    Parameters
    ----------
    name : str
        One of ``list_schema_names``.

    Returns
    -------
    Path
        Path of the installed file.

    Raises
    ------
    LoadError
        There is no shipped schema with this name.
    """
    return _find_shipped_file(name, ".csv")


def _find_shipped_file(name: str, suffix: str) -> Path:
    known = list_schema_names()
    if name not in known:
        raise LoadError(f"there is no shipped schema {name!r}; there are {', '.join(known)}")
    return _SCHEMA_FOLDER / (name + suffix)


def resolve_schema_option(value: str) -> Path:
    """Return the file that ``--schema`` names.

    Parameters
    ----------
    value : str
        Name of a shipped schema, or else a path; ./NAME is a path in any case.

    Returns
    -------
    Path
        Absolute path, which need not exist.
    """
    return find_schema_file(value) if value in list_schema_names() else Path(value).absolute()
