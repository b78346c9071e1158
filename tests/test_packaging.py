"""The wheel has every file of the packages; `make release` builds it and compares."""

from __future__ import annotations

import re
import tomllib
from pathlib import PurePosixPath

from tests.support.environment import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def test_every_file_of_data_is_packaged() -> None:
    """Python files always are; what else a package has must match a pattern of its own folder."""
    patterns = PROJECT["tool"]["setuptools"]["package-data"]
    packages = [name.removesuffix("*") for name in PROJECT["tool"]["setuptools"]["packages"]["find"]["include"]]
    data = [
        path.relative_to(ROOT)
        for package in packages
        if package != "web"  # tests/web/test_build.py
        for path in (ROOT / package).rglob("*")
        if path.is_file() and path.suffix not in (".py", ".pyc")
    ]
    assert len(data) > 8
    for path in data:
        own = patterns.get(".".join(path.parent.parts), [])
        assert any(PurePosixPath(path.name).match(pattern) for pattern in own), path


def test_the_version_is_defined_once_and_in_compose() -> None:
    version = PROJECT["project"]["version"]
    (composed,) = set(re.findall(r"SKYHOUSE_VERSION:-([\d.]+)", (ROOT / "compose" / "compose.yaml").read_text()))
    assert composed == version
    for package in ("adql", "clickhouse_schema", "loaders", "tap_service", "workers"):
        for path in (ROOT / package).rglob("*.py"):
            assert f'"{version}"' not in path.read_text(encoding="utf-8"), path
