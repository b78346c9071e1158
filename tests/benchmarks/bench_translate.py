"""Compare the translation of a few queries to ClickHouse SQL with parsing them with the grammar of the tests.

    python -m tests.benchmarks.bench_translate

The first figures are milliseconds of processor time per query, in total and by stage. The figure to quote is the
ratio: how many times longer lark (Earley, the test's second opinion on the grammar) takes for the parse tree alone
than Skyhouse for the SQL.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from adql.clickhouse.emitter import emit_query
from adql.ir import NameGenerator, TranslationContext
from adql.resolve import resolve_statement
from adql.rewrite import rewrite_query
from adql.syntax.parser import parse
from adql.translation import translate
from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.schema_model import Column, Layout, Schema, Table
from tests.adql.test_grammar import load_grammar

_SECONDS = 0.5
_ROUNDS = 10
_NUMBERS = ("ra", "dec", "pmra", "pmdec", "parallax", "parallax_error", "g_mag", "bp_mag", "rp_mag", "radial_velocity")


def _table(name: str) -> Table:
    columns = [Column(name="source_id", datatype="long", nullable=False), Column(name="name", datatype="unicode")]
    columns += [Column(name=number, datatype="double") for number in _NUMBERS]
    return Table(name=name, columns=tuple(columns), layout=Layout(position=("ra", "dec"), id=("source_id",)))


CATALOGUE = Catalogue((Schema(name="survey", tables=(_table("stars"), _table("galaxies"))),))

QUERIES = {
    "look-up by id": "SELECT * FROM survey.stars WHERE source_id = 4295806720",
    "cone": "SELECT TOP 1000 source_id, ra, dec, g_mag FROM survey.stars"
    " WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE(56.75, 24.1167, 1.0)) ORDER BY g_mag",
    "join by distance": "SELECT s.source_id, g.source_id, DISTANCE(s.ra, s.dec, g.ra, g.dec) AS separation"
    " FROM survey.stars AS s JOIN survey.galaxies AS g ON DISTANCE(s.ra, s.dec, g.ra, g.dec) < 1 / 3600."
    " WHERE g.g_mag < 15",
    "1 kB": "SELECT TOP 500 s.source_id, s.name AS star, s.ra, s.dec, s.g_mag - s.rp_mag AS colour,"
    " s.g_mag + 5 * LOG10(s.parallax) - 10 AS abs_mag, SQRT(POWER(s.pmra, 2) + POWER(s.pmdec, 2)) AS motion,"
    " CASE WHEN s.parallax > 10 THEN 'near' WHEN s.parallax > 1 THEN 'far' ELSE 'unknown' END AS distance_class, g.number"
    " FROM survey.stars AS s JOIN (SELECT name, COUNT(*) AS number, AVG(g_mag) AS mean_mag FROM survey.galaxies"
    " WHERE g_mag BETWEEN 10 AND 18 AND radial_velocity IS NOT NULL GROUP BY name HAVING COUNT(*) > 1) AS g"
    " ON s.name = g.name WHERE s.parallax / s.parallax_error > 5 AND s.g_mag < 16.5 AND s.bp_mag - s.rp_mag > -0.5"
    " AND (s.radial_velocity > 100 OR s.radial_velocity < -100 OR s.radial_velocity IS NULL)"
    " AND s.name NOT LIKE 'TYC%' AND s.source_id NOT IN (4295806720, 38655544960, 549755818112)"
    " AND COALESCE(s.pmra, 0) <> 0 AND MOD(s.source_id, 7) = 3 AND ABS(s.pmdec) < 1000"
    " AND s.g_mag < (SELECT AVG(q.g_mag) FROM survey.stars AS q WHERE q.ra BETWEEN 10 AND 20) AND g.mean_mag > 12"
    " ORDER BY abs_mag DESC, s.source_id OFFSET 100",
}


def milliseconds(work: Callable[[], object]) -> float:
    """Return the processor time of a call: the least mean of ten rounds, as other work disturbs it least."""
    began = time.process_time()
    work()
    calls = max(1, int(_SECONDS / _ROUNDS / max(time.process_time() - began, 1e-5)))
    means = []
    for _ in range(_ROUNDS):
        began = time.process_time()
        for _ in range(calls):
            work()
        means.append((time.process_time() - began) / calls)
    return min(means) * 1000


def stages(text: str) -> dict[str, float]:
    """Return the milliseconds of each stage; each is given the result of the previous one."""
    tree = parse(text)
    context = TranslationContext(NameGenerator())
    bound, *_ = resolve_statement(tree, CATALOGUE, context.names)
    rewritten = rewrite_query(bound, context).query
    return {
        "parse": milliseconds(lambda: parse(text)),
        "resolve": milliseconds(lambda: resolve_statement(tree, CATALOGUE, NameGenerator())),
        "rewrite": milliseconds(lambda: rewrite_query(bound, context)),
        "emit": milliseconds(lambda: emit_query(rewritten)),
    }


def main() -> None:
    print(f"{'query':18}{'characters':>11}{'ms':>8}{'lark ms':>9}{'ratio':>7}   stages")
    for name, text in QUERIES.items():
        ours = milliseconds(lambda text=text: translate(text, CATALOGUE, limit=1000))  # type: ignore[misc]
        theirs = milliseconds(lambda text=text: load_grammar().parse(text))  # type: ignore[misc]
        parts = ", ".join(f"{stage} {value:.2f}" for stage, value in stages(text).items())
        print(f"{name:18}{len(text):11}{ours:8.2f}{theirs:9.1f}{theirs / ours:6.0f}x   {parts}")


if __name__ == "__main__":
    main()
