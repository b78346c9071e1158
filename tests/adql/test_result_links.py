"""LINKs and service descriptors of a result: it has each whose columns it returns unchanged, with their indexes."""

from __future__ import annotations

import json

import pytest

from adql.translation import translate
from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.schema_model import Schema

_OBS = {
    "name": "obs",
    "columns": [
        {
            "name": "did",
            "datatype": "string",
            "skyhouse:links": [{"href": "http://a/doc"}, {"href": "http://a/${did}/${part}"}],
        },
        {"name": "part", "datatype": "int"},
        {"name": "note", "datatype": "unicode", "length": 8, "skyhouse:links": [{"href": "http://a/${did}"}]},
    ],
    "skyhouse:services": [
        {
            "name": "both",
            "accessURL": "http://a",
            "inputParams": [{"name": "ID", "ref": "did"}, {"name": "PART", "ref": "part"}],
        },
        {"name": "did", "accessURL": "http://a", "inputParams": [{"name": "ID", "ref": "did"}]},
        {"name": "none", "accessURL": "http://a", "inputParams": [{"name": "SIZE"}]},
    ],
}
_STARS = {
    "name": "stars",
    "columns": [{"name": "did", "datatype": "string"}, {"name": "mag", "datatype": "float"}],
    "skyhouse:services": [{"name": "stars", "accessURL": "http://b", "inputParams": [{"name": "ID", "ref": "did"}]}],
}
_SCHEMA = {"name": "s", "tables": [_OBS, _STARS, {"name": "plain", "columns": _STARS["columns"]}]}
_CATALOGUE = Catalogue((Schema.model_validate_json(json.dumps(_SCHEMA)),))


def list_links_and_services(query: str) -> tuple[list[str], list[str]]:
    """Return links as 'index href', with indexes for columns, and services as 'name indexes'."""
    links = translate(query, _CATALOGUE).links
    hrefs = [
        f"{placed.index} {placed.link.rename_href_columns({name: str(index) for name, index in placed.columns.items()})}"
        for placed in links.of_columns
    ]
    services = [" ".join((placed.service.name, *map(str, placed.columns.values()))) for placed in links.services]
    return [href.replace("http://a/", "") for href in hrefs], services


ALL_LINKS = (["0 doc", "0 ${0}/${1}", "2 ${0}"], ["both 0 1", "did 0", "none"])


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM s.obs",
        "SELECT did AS part, part AS note, note AS did FROM s.obs",
        "SELECT o.* FROM s.obs AS o WHERE did LIKE 'x%' ORDER BY part",
        "SELECT DISTINCT did, part, note FROM s.obs",
        "SELECT did, part, note, COUNT(*) FROM s.obs GROUP BY did, part, note HAVING COUNT(*) > 1",
        "SELECT a, b, c FROM (SELECT note AS c, did AS a, part AS b FROM (SELECT * FROM s.obs) AS x) AS y",
        "WITH w AS (SELECT * FROM s.obs) SELECT * FROM w",
        "SELECT did, part, note FROM s.obs TABLESAMPLE (10)",
        "SELECT o.did, part, note FROM s.obs AS o LEFT JOIN s.plain AS p ON o.did = p.did",
        "SELECT did, part, note FROM s.obs JOIN s.plain USING (did)",
        "SELECT did, part, note FROM s.plain RIGHT JOIN s.obs USING (did)",
        "SELECT * FROM s.obs WHERE part = 1 UNION ALL SELECT * FROM s.obs WHERE part = 2",
        "SELECT * FROM s.obs UNION SELECT * FROM s.obs UNION SELECT did, part, note FROM s.obs",
        "SELECT * FROM s.obs EXCEPT SELECT 'x', 1, 'y' FROM s.plain",
        "SELECT * FROM s.obs INTERSECT SELECT did, 1, did FROM s.plain",
    ],
)
def test_unchanged_columns(query: str) -> None:
    assert list_links_and_services(query) == ALL_LINKS


@pytest.mark.parametrize(
    ("query", "links", "services"),
    [
        ("SELECT part FROM s.obs", [], ["none"]),
        ("SELECT note FROM s.obs", [], ["none"]),
        ("SELECT did FROM s.obs", ["0 doc"], ["did 0", "none"]),
        ("SELECT note, did FROM s.obs", ["0 ${1}", "1 doc"], ["did 1", "none"]),
        ("SELECT COUNT(*) FROM s.obs", [], []),
        ("SELECT mag FROM s.stars WHERE did IN (SELECT did FROM s.obs)", [], []),
        # columns in expressions
        ("SELECT did || '', part, note FROM s.obs", [], ["none"]),
        ("SELECT did, part + 0 FROM s.obs", ["0 doc"], ["did 0", "none"]),
        ("SELECT did, CAST(part AS BIGINT) AS part FROM s.obs", ["0 doc"], ["did 0", "none"]),
        ("SELECT CAST(did AS VARCHAR(2)) AS did FROM s.obs", [], []),
        ("SELECT MIN(did), MAX(part) FROM s.obs", [], []),
        ("SELECT COALESCE(did, 'x'), (SELECT MIN(did) FROM s.obs) FROM s.obs", [], []),
        ("SELECT LAG(did) OVER (ORDER BY part), part FROM s.obs", [], ["none"]),
        ("SELECT did, part FROM (SELECT UPPER(did) AS did, part FROM s.obs) AS x", [], ["none"]),
        ("SELECT a.did FROM s.obs AS a FULL JOIN s.obs AS b ON a.did = b.did", ["0 doc"], ["did 0", "none"]),
        ("SELECT did FROM s.obs AS a FULL JOIN s.obs AS b USING (did)", [], []),
        # of two tables in a union
        ("SELECT did FROM s.obs UNION ALL SELECT did FROM s.stars", [], []),
        ("SELECT did, part FROM s.obs UNION ALL SELECT did, 1 FROM s.obs", ["0 doc"], ["did 0", "none"]),
        ("SELECT note, did FROM s.obs UNION ALL SELECT did, did FROM s.obs", ["1 doc"], ["did 1", "none"]),
        ("SELECT mag, did FROM s.plain", [], []),
    ],
)
def test_changed_columns(query: str, links: list[str], services: list[str]) -> None:
    assert list_links_and_services(query) == (links, services)


@pytest.mark.parametrize(
    ("query", "links", "services"),
    [
        (
            "SELECT did, did, part, did FROM s.obs",
            ["0 doc", "0 ${0}/${2}", "1 doc", "1 ${1}/${2}", "3 doc", "3 ${3}/${2}"],
            ["both 0 2", "did 0", "none"],
        ),
        (
            "SELECT * FROM s.obs AS a, s.obs AS b",
            ["0 doc", "0 ${0}/${1}", "2 ${0}", "3 doc", "3 ${3}/${4}", "5 ${3}"],
            ["both 0 1", "did 0", "none", "both 3 4", "did 3"],
        ),
        # columns of different rows do not belong together
        ("SELECT a.did, b.part FROM s.obs AS a, s.obs AS b", ["0 doc"], ["did 0", "none"]),
        ("SELECT a.note, b.did FROM s.obs AS a, s.obs AS b", ["1 doc"], ["none", "did 1"]),
        (
            "WITH w AS (SELECT * FROM s.obs) SELECT x.part, y.did, x.did FROM w AS x JOIN w AS y ON x.did = y.note",
            ["1 doc", "2 doc", "2 ${2}/${0}"],
            ["both 2 0", "did 2", "none", "did 1"],
        ),
        (
            "SELECT x.did, y.part FROM s.obs AS x, s.obs AS y UNION ALL SELECT y.did, y.part FROM s.obs AS y",
            ["0 doc"],
            ["did 0", "none"],
        ),
        (
            "SELECT mag, s.did, o.did FROM s.stars AS s JOIN s.obs AS o ON s.did = o.did",
            ["2 doc"],
            ["stars 1", "did 2", "none"],
        ),
        # a column of USING is the left table's
        ("SELECT did, mag FROM s.obs JOIN s.stars USING (did)", ["0 doc"], ["did 0", "none"]),
    ],
)
def test_several_rows_of_tables(query: str, links: list[str], services: list[str]) -> None:
    assert list_links_and_services(query) == (links, services)


def test_wide_and_deep_queries() -> None:
    """Each name is looked up once: no time grows with the square of the columns or doubles with each level."""
    columns = [{"name": f"c{i}", "datatype": "int"} for i in range(2000)]
    columns[0]["skyhouse:links"] = [{"href": "http://a/${c1999}"}]
    schema = Schema.model_validate_json(json.dumps({"name": "w", "tables": [{"name": "t", "columns": columns}]}))
    query = "SELECT * FROM w.t"
    for level in range(12):
        query = f"SELECT * FROM ({query}) AS q{level}"
    [placed] = translate(query, Catalogue((schema,))).links.of_columns
    assert (placed.index, dict(placed.columns)) == (0, {"c1999": 1999})


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ("SELECT did, did AS again FROM s.obs", (0, 0)),
        ("SELECT o.did, t.did AS other, t.mag FROM s.obs AS o JOIN s.stars AS t ON o.did = t.did", (0, 1, 1)),
        ("SELECT a.did, b.did AS other FROM s.stars AS a, s.stars AS b", (0, 1)),
        ("SELECT mag + 1 AS m, did FROM s.stars", (None, 0)),
        ("SELECT q.did, q.m FROM (SELECT did, -mag AS m FROM s.stars) AS q", (0, None)),
        ("SELECT MAX(mag) AS m FROM s.stars", (None,)),
        ("SELECT did FROM s.obs UNION ALL SELECT did FROM s.stars", (None,)),
    ],
)
def test_source_rows(query: str, rows: tuple[int | None, ...]) -> None:
    assert translate(query, _CATALOGUE).source_rows == rows
