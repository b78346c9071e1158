"""web/dist is the build of the sources, and the package contains all of it."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path, PurePosixPath

import web
from tests.support.environment import ROOT


def read_folder(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_build_is_that_of_the_sources(tmp_path: Path) -> None:
    """Builds in different folders are identical, byte for byte."""
    vite = [Path(sys.executable).with_name("node"), "node_modules/vite/bin/vite.js"]
    command = [*vite, "build", "--outDir", tmp_path, "--emptyOutDir"]
    built = subprocess.run(command, cwd=ROOT / "web", capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    kept, fresh = read_folder(web.DIST), read_folder(tmp_path)
    other = sorted(name for name in kept.keys() | fresh.keys() if kept.get(name) != fresh.get(name))
    assert not other, f"web/dist is not what its sources build ({', '.join(other)}): make portal, and commit web/dist"


def test_all_of_it_goes_into_the_package() -> None:
    patterns = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]["web"]
    for name in read_folder(web.DIST):
        assert any(PurePosixPath("dist", name).match(pattern) for pattern in patterns), name


def test_the_licences_of_what_is_bundled_go_with_it() -> None:
    """Each package is listed with the text of its licence."""
    head, *sections = (web.DIST / "THIRD-PARTY-LICENSES.txt").read_text(encoding="utf-8").split(f"\n{'-' * 80}\n")
    assert "each under its own licence" in head
    sections_by_name = {section.split(" ", 1)[0]: section for section in sections}
    assert {"svelte", "@codemirror/state", "@codemirror/view", "sampjs", "vite"} <= sections_by_name.keys()
    licences = ("Permission is hereby granted", "Permission to use, copy, modify", "Apache License", "CC0-1.0")
    for name, section in sections_by_name.items():
        assert any(licence in section for licence in licences), name
