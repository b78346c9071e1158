"""The queries in the section on cross-matches of docs/adql.md become planned matches on the demo data."""

from __future__ import annotations

import re

import pytest

from adql.translation import translate
from clickhouse_schema.catalogue import Catalogue
from tap_service.storage.engine.engine import Engine
from tests.support.environment import ROOT

_TEXT = (ROOT / "docs" / "adql.md").read_text(encoding="utf-8")
_SECTION = _TEXT.split("## Cross-matches\n")[1].split("\n## ")[0]


@pytest.mark.parametrize("query", re.findall(r"```sql\n(.*?)```", _SECTION, re.DOTALL))
def test_the_example_runs(query: str, demo_engine: Engine, demo_catalogue: Catalogue) -> None:
    translation = translate(query, demo_catalogue)
    assert "bitShiftLeft" in translation.sql
    assert demo_engine.fetch_table(translation.sql, translation.settings).num_rows > 0
