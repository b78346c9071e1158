"""Long SQL and wide results run in small blocks, between which the engine can stop, and are not compiled."""

from __future__ import annotations

import math

import pytest

from adql.translation import translate
from clickhouse_schema.catalogue import Catalogue
from tap_service.storage.engine.engine import Engine


def _draw_star(vertices: int) -> str:
    turns = [2 * math.pi * i / vertices for i in range(vertices)]
    radii = [5.0 if i % 2 else 2.5 for i in range(vertices)]
    return ", ".join(f"{100 + r * math.cos(a)!r}, {r * math.sin(a)!r}" for r, a in zip(radii, turns, strict=True))


def _find_largest_block(query: str, engine: Engine, catalogue: Catalogue) -> int:
    """Return the rows of the largest block of a query with its settings."""
    settings = translate(query, catalogue).settings
    sql = "SELECT max(blockSize()) AS n FROM numbers(200000)"
    return int(engine.fetch_table(sql, settings).column(0)[0].as_py())


STAR = f"SELECT id FROM sky.points WHERE 0 = CONTAINS(POINT(ra, dec), POLYGON({_draw_star(2000)}))"
WIDE = f"SELECT {', '.join(f'id AS x{i}' for i in range(1000))} FROM sky.points"


@pytest.mark.parametrize(
    ("query", "least", "most"),
    [
        ("SELECT id FROM sky.points WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE(10, 10, 1))", 60_000, 200_000),
        (STAR, 512, 2000),
        (WIDE, 4000, 4200),
    ],
    ids=["cone", "star", "wide"],
)
def test_rows_of_a_block(query: str, least: int, most: int, engine: Engine, sky: Catalogue) -> None:
    assert least <= _find_largest_block(query, engine, sky) <= most


def test_long_sql_is_not_compiled(sky: Catalogue) -> None:
    """The compilation of 300 expressions takes seconds and cannot be stopped."""
    cone = translate("SELECT id FROM sky.points WHERE 0 = CONTAINS(POINT(ra, dec), CIRCLE(10, 10, 1))", sky).settings
    assert "compile_expressions" not in cone
    roots = ", ".join(f"SQRT(id + {i}) AS x{i}" for i in range(300))
    assert translate(f"SELECT {roots} FROM sky.points", sky).settings["compile_expressions"] == 0
    assert translate(STAR, sky).settings["compile_expressions"] == 0
