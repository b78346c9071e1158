"""A conftest.py contains fixtures and hooks of pytest; helpers that tests import are in modules."""

from __future__ import annotations

import ast
from pathlib import Path

from tests.support.environment import ROOT


def list_imports(path: Path) -> set[str]:
    """Return the modules that a file imports; for ``from a import b`` also ``a.b``."""
    imports = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            imports.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            imports.update((node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)))
    return imports


def test_no_module_imports_a_conftest() -> None:
    files = list((ROOT / "tests").rglob("*.py"))
    assert len(files) > 400
    importing = [path for path in files if any(name.endswith("conftest") for name in list_imports(path))]
    assert importing == []
