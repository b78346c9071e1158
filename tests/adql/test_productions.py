"""docs/adql-productions.md: every production of ADQL 2.1 has a row, and every example runs on the demo data."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from adql.translation import translate
from clickhouse_schema.catalogue import Catalogue
from tap_service.storage.engine.engine import Engine

_HERE = Path(__file__).parent
_TEXT = (_HERE.parents[1] / "docs" / "adql-productions.md").read_text(encoding="utf-8")
#: The left sides of the rules in ADQL 2.1, appendix A
_PRODUCTIONS = (_HERE / "productions.txt").read_text(encoding="utf-8").splitlines()


def _read_rows() -> list[tuple[str, str]]:
    """Return the productions and the query of each row."""
    rows = []
    for section in _TEXT.split("\n## ")[1:]:
        template = re.search(r"^In: `(.+)`$", section, re.MULTILINE)
        for productions, cell in re.findall(r"^\| (`.+?`) \| (.+) \|$", section, re.MULTILINE):
            piece = cell.strip("`").replace("\\|", "|").replace("↵", "\n")
            rows.append((productions, template[1].replace("…", piece) if template else ""))
    return rows


def test_every_production_has_a_row() -> None:
    named = [name for productions, _ in _read_rows() for name in re.findall(r"`(.+?)`", productions)]
    assert sorted(named) == sorted(_PRODUCTIONS)


@pytest.mark.parametrize("query", [query for _, query in _read_rows() if query])
def test_example_runs(query: str, demo_engine: Engine, demo_catalogue: Catalogue) -> None:
    translation = translate(query, demo_catalogue)
    answer = demo_engine.fetch_table(translation.sql, translation.settings)
    assert answer.num_rows > 0
