"""Names for the columns of files whose own names are equal, differ in case alone, are empty or reserved."""

from __future__ import annotations

from collections.abc import Sequence

from clickhouse_schema.strict_model import MAX_NAME_LENGTH


def name_columns(names: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return names that differ, ignoring case, as ADQL does.

    The first of several equal names stays; another gets the next free number (``mag``, ``mag_2``). The column at the
    1-based position 3 without a name becomes ``col3``.

    Parameters
    ----------
    names : sequence of str
        The names in a file, in its order.

    Returns
    -------
    names : tuple of str
        One name for each column; the names that differ already are unchanged.
    notes : tuple of str
        A sentence for each changed name.
    """
    taken = {name.lower() for name in names if name}
    used: set[str] = set()
    found: list[str] = []
    notes: list[str] = []
    for number, name in enumerate(names, 1):
        chosen = name
        if not name or name.lower() in used:
            chosen = _find_free_name(name or f"col{number}", taken, is_free=not name)
            what = f"another column {name}" if name else f"column {number}, which has no name,"
            notes.append(f"{what} is called {chosen}")
        taken.add(chosen.lower())
        used.add(chosen.lower())
        found.append(chosen)
    return tuple(found), tuple(notes)


def _find_free_name(base: str, taken: set[str], *, is_free: bool) -> str:
    """Return ``base`` if it is free and may be used, else ``base_2``, ``base_3`` and so on, in the length of names."""
    if is_free and base.lower() not in taken:
        return base
    number = 2
    while True:
        suffix = f"_{number}"
        name = base[: MAX_NAME_LENGTH - len(suffix)] + suffix
        if name.lower() not in taken:
            return name
        number += 1
