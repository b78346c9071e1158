"""Long chains of AND and OR are flat; equalities of one value become one IN, with three-valued logic."""

from __future__ import annotations

import duckdb
import pytest

from adql.errors import AdqlUnsupported
from adql.translation import translate
from clickhouse_schema.catalogue import Catalogue
from tests.support.adql_rows import Ask


@pytest.mark.parametrize(
    "condition",
    [
        "id = 1 OR id = 3 OR id = 5",
        "1 = id OR mag > 2 OR id = 3 OR 5 = id",
        "n_obs = 3 OR n_obs = CAST(NULL AS INTEGER) OR n_obs = 2",
        "name = 'alpha' OR name = '' OR mag = 2.5 OR mag = 0.0",
        "mag = -0.0 OR mag = 12.25 OR mag = 4",
        "mag = 1.5 OR mag = 2.5 OR mag = 9",
        "big = 9223372036854775807 OR big = 9223372036854775806 OR big = 2.0 OR big = 4.0",
        "n_obs = 3 OR n_obs = 2.0 OR n_obs = 10 OR n_obs = -7.0",
        "id + 1 = 2 OR id + 1 = 4",
        "n_obs <> 3 AND n_obs <> 2 AND id <> 1",
        "name <> 'alpha' AND 'Beta' <> name AND name <> CAST(NULL AS VARCHAR)",
        "id <> 1 AND (id = 2 OR id = 1) AND id <> 3",
        "(n_obs = 3 OR n_obs = 2) AND (name = 'alpha' OR name = 'Beta') OR (id = 9 OR id = 8)",
        "variable = TRUE OR variable = FALSE",
        "id = 1 OR id = 1",
        "mag * 1 = -0.0 OR mag * 1 = 0.5 OR mag * 1 = 7.0 OR mag * 1 = CAST(NULL AS REAL)",
        "mag IN (-0.0, 12.25, NULL) OR id IN (1, n_obs, 3, NULL)",
        "-mag = 0.0 OR -mag = parallax OR -mag = 7.0 OR -mag = n_obs",
        "-mag <> 0.0 AND -mag <> parallax AND -mag <> 7.0 AND -mag <> n_obs",
    ],
)
def test_the_meaning_is_kept(condition: str, ask: Ask, other: duckdb.DuckDBPyConnection) -> None:
    for where in (
        condition,
        f"NOT ({condition})",
        f"CASE WHEN {condition} THEN 1 WHEN NOT ({condition}) THEN 2 END = 1",
    ):
        query = f"SELECT id FROM small.stars WHERE {where}"
        assert sorted(ask(query)) == sorted(other.execute(query).fetchall())


def test_equalities_become_one_in(small: Catalogue) -> None:
    sql = translate("SELECT id FROM small.stars WHERE mag > 1 OR id = 1 OR 2 = id OR id = 3", small).sql
    assert sql.endswith("WHERE ((t1.`mag` > 1) OR (t1.`id` IN (1, 2, 3)))")
    sql = translate("SELECT id FROM small.stars WHERE id <> 1 AND id <> 2", small).sql
    assert sql.endswith("WHERE (NOT (t1.`id` IN (1, 2)))")


def test_chains_are_flat(small: Catalogue) -> None:
    sql = translate("SELECT id FROM small.stars WHERE id < 1 OR (mag < 2 OR big < 3) OR n_obs < 4", small).sql
    assert sql.endswith("((t1.`id` < 1) OR (t1.`mag` < 2) OR (t1.`big` < 3) OR (t1.`n_obs` < 4))")


@pytest.mark.parametrize(("each", "count"), [("id = {0}", 20_000), ("id > {0} AND id < {0}", 300)])
def test_a_chain_of_thousands(each: str, count: int, ask: Ask) -> None:
    wanted = " OR ".join(each.format(i) for i in range(6, count))
    assert len(ask(f"SELECT id FROM small.stars WHERE {wanted}")) == (4 if "=" in each else 0)


@pytest.mark.parametrize("branch", ["(mag BETWEEN {0} AND {0} + 1 AND id < {0})", "mag < {0} OR id > {0}"])
def test_more_conditions_than_the_engine_can_plan(small: Catalogue, branch: str) -> None:
    def query(count: int) -> str:
        return "SELECT id FROM small.stars WHERE " + " OR ".join(branch.format(i) for i in range(count))

    assert translate(query(300), small).sql
    with pytest.raises(AdqlUnsupported, match="more than 1000 conditions"):
        translate(query(600), small)
