"""The pages of docs/ name files that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.environment import ROOT

PAGES = [
    *sorted((ROOT / "docs").rglob("*.md")),
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "web" / "README.md",
]
_PATH = re.compile(
    r"`((?:adql|clickhouse_schema|loaders|tap_service|workers|web|tests|tools|compose|docs|\.ci)/[\w./-]*)`"
)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_files_that_a_page_names_exist(page: Path) -> None:
    named = _PATH.findall(page.read_text(encoding="utf-8"))
    made_elsewhere = {"compose/.env", "compose/load", "compose/tls"}
    assert [name for name in named if not (ROOT / name).exists() and name not in made_elsewhere] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_targets_of_make_that_a_page_names_have_recipes(page: Path) -> None:
    recipes = set(re.findall(r"^([a-z-]+):.*\n\t", (ROOT / "Makefile").read_text(), re.MULTILINE))
    prerequisites = re.findall(r"^([a-z-]+): [a-z]", (ROOT / "Makefile").read_text(), re.MULTILINE)
    named = set(re.findall(r"(?:`|^(?=make \S+$))make ([a-z-]+)", page.read_text(encoding="utf-8"), re.MULTILINE))
    assert named <= recipes | set(prerequisites)


def test_the_contents_list_each_page() -> None:
    contents = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"\]\(([\w-]+\.md)\)", contents))
    assert {page.name for page in (ROOT / "docs").glob("*.md")} - listed == {"README.md"}
