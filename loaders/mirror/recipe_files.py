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
    """Return the file of a shipped recipe, or else the file with this path. Raises ``LoadError``."""
    if name in list_recipe_names():
        return _SHIPPED / f"{name}{_SUFFIX}"
    if not Path(name).is_file():
        raise LoadError(f"there is no recipe {name}: give a file, or one of {', '.join(list_recipe_names())}")
    return Path(name).absolute()


def read_key(path: Path, key: str) -> str:
    """Return the plain value of a top-level key, such as ``table`` or ``title``; '' if there is none."""
    found = re.search(rf"^{key}:[ \t]*[\"']?([^\"'#\r\n]*)", path.read_text(encoding="utf-8", errors="replace"), re.M)
    return found[1].strip() if found else ""
