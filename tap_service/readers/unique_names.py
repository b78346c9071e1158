"""Unique names for columns whose names in a file are equal, differ only in case, are empty or reserved."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from itertools import count

from clickhouse_schema.schema_files.schema_checks import is_reserved_column
from clickhouse_schema.strict_model import MAX_NAME_LENGTH


def name_columns(names: Sequence[str], *, case_matters: bool = False) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return different names, no longer than names may be.

    The first of several equal names stays; the others get the next free number (``mag``, ``mag_2``). A column without a
    name at the 1-based position 3 becomes ``col3``. Surrounding blanks are dropped, and control characters become
    ``_``.

    Parameters
    ----------
    names : sequence of str
        The names in a file, in its order.
    case_matters : bool
        Whether names that differ only in case are different, and names of the storage are allowed; a stored table
        cannot have them.

    Returns
    -------
    names : tuple of str
        One name for each column; unique names are unchanged.
    notes : tuple of str
        A sentence for each changed name.
    """
    fold = str if case_matters else str.lower
    clean = [_clean_name(name) for name in names]
    taken = {fold(name) for name in clean if name}
    used: set[str] = set()
    found: list[str] = []
    notes: list[str] = []
    for number, (written, name) in enumerate(zip(names, clean, strict=True), 1):
        chosen = name
        is_long = len(name) > MAX_NAME_LENGTH
        if not case_matters and is_reserved_column(name):
            chosen = _unreserve_name(name, taken)
            notes.append(f"column {name}, a name reserved for the storage, is called {chosen}")
        elif not name or is_long or fold(name) in used:
            base = name[:MAX_NAME_LENGTH] or f"col{number}"
            chosen = base if base != name and fold(base) not in taken else _number_name(base, taken, fold)
            notes.append(f"{_describe_column(name, number)} is called {chosen}")
        elif name != written:
            notes.append(f"column {written!r} is called {chosen}")
        taken.add(fold(chosen))
        used.add(fold(chosen))
        found.append(chosen)
    return tuple(found), tuple(notes)


def _clean_name(name: str) -> str:
    return "".join(character if character.isprintable() else "_" for character in name.strip())


def _describe_column(name: str, number: int) -> str:
    if not name:
        return f"column {number}, which has no name,"
    return f"column {name}" if len(name) > MAX_NAME_LENGTH else f"another column {name}"


def _unreserve_name(name: str, taken: Collection[str]) -> str:
    """Return the name without outer underscores if it is free and not reserved, else with a number at its end."""
    bare = name.strip("_") or "column"
    is_free = bare.lower() not in taken and not is_reserved_column(bare)
    return bare if is_free and len(bare) <= MAX_NAME_LENGTH else _number_name(bare, taken, str.lower)


def _number_name(base: str, taken: Collection[str], fold: Callable[[str], str]) -> str:
    """Return the first free name of ``base_2``, ``base_3`` and so on, within the length of names."""
    suffixes = (f"_{number}" for number in count(2))
    numbered = (base[: MAX_NAME_LENGTH - len(suffix)] + suffix for suffix in suffixes)
    return next(name for name in numbered if fold(name) not in taken)
