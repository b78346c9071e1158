"""Finds the files of recipes, without importing the libraries that read them."""

from __future__ import annotations

import re
from pathlib import Path

from loaders.load_error import LoadError

_SHIPPED = Path(__file__).parent / "recipes"
_SUFFIX = ".yaml"


def list_recipe_names() -> list[str]:
    """Return the names of the shipped recipes, sorted."""
    return sorted(path.stem for path in _SHIPPED.glob(f"*{_SUFFIX}"))


def find_recipe_file(name: str) -> Path:
    """Return the file of a recipe.

    Parameters
    ----------
    name : str
        Name of a shipped recipe, or else a path; ./NAME is a path in any case.

    Returns
    -------
    Path
        Path of an existing file.

    Raises
    ------
    LoadError
        There is neither a shipped recipe nor a file with this name.
    """
    if name in list_recipe_names():
        return _SHIPPED / f"{name}{_SUFFIX}"
    if not Path(name).is_file():
        raise LoadError(f"there is no recipe {name}: give a file, or one of {', '.join(list_recipe_names())}")
    return Path(name).absolute()


def read_key(path: Path, key: str) -> str:
    """Return the plain value of a top-level key, such as ``table`` or ``title``, without reading the YAML.

    Parameters
    ----------
    path : Path
        A recipe file, which need not be valid.
    key : str
        A word.

    Returns
    -------
    str
        Value without quotes and comments; '' if the key is missing.

    Raises
    ------
    OSError
        The file cannot be read.
    """
    found = re.search(rf"^{key}:[ \t]*[\"']?([^\"'#\r\n]*)", path.read_text(encoding="utf-8", errors="replace"), re.M)
    return found[1].strip() if found else ""
