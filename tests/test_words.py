"""Names, comments, messages and pages use one word for one thing: see docs/glossary.md and tools/lint_words.py."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.environment import ROOT
from tools.lint_words import lint_file

LINTED = ("adql", "clickhouse_schema", "loaders", "tap_service", "workers", "tests", "tools", "web", "docs")
PAGES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")


def lint_words(*paths: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "tools/lint_words.py", *paths]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=100)


@pytest.mark.parametrize("path", [*LINTED, *PAGES])
def test_no_forbidden_words(path: str) -> None:
    run = lint_words(path)
    assert run.returncode == 0, run.stdout + run.stderr


def test_forbidden_words_are_found(tmp_path: Path) -> None:
    file = tmp_path / "page.md"
    file.write_text("The query is sent\nanew.\n")  # the lint reads this file too
    assert [(found.line, found.replacement) for found in lint_file(file)] == [(2, "again")]
