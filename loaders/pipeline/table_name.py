"""The name of a table in a command."""

from __future__ import annotations

from loaders.load_error import LoadError


def split_name(name: str, option: str = "--table") -> tuple[str, str]:
    """Split the name of a table that an operator gave.

    Parameters
    ----------
    name : str
        ``schema.table``, without quotes.
    option : str, optional
        Where it was given, for the message.

    Returns
    -------
    tuple of str
        Schema and table.

    Raises
    ------
    LoadError
        The name has not exactly one dot, or a part is empty.
    """
    schema, dot, table = name.partition(".")
    if not (schema and dot and table) or "." in table:
        raise LoadError(f"{option} needs schema.table, for example survey.stars, not {name!r}")
    return schema, table
