"""The package's public names: each comes from the module that type checkers see."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import adql


def test_each_name_comes_from_the_module_that_type_checkers_see() -> None:
    tree = ast.parse(Path(adql.__file__).read_text())
    seen = {
        alias.name: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("adql.")
        for alias in node.names
    }
    homes = {name: module for module, names in adql._HOMES.items() for name in names}
    assert homes == seen
    assert sorted(homes) == sorted(adql.__all__)
    assert all(getattr(adql, name) is getattr(sys.modules[module], name) for name, module in homes.items())


def test_other_names_are_refused() -> None:
    with pytest.raises(AttributeError, match="module 'adql' has no attribute 'translation_'"):
        adql.translation_  # noqa: B018


def test_regions_do_not_load_the_translator() -> None:
    code = "import sys, adql.regions; sys.exit('adql.translation' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
