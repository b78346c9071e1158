"""Objects by name, in the tables that declare names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
import requests

from adql import NameLookupError
from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.engine_tables import catalogue_log
from clickhouse_schema.object_names import names_sql, normalise_name
from clickhouse_schema.visible_tables import select_visible
from tap_service.config import Config
from tap_service.services.queries.name_resolver import NameResolver
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tests.support.running_service import RunningService, running_service


@pytest.fixture(scope="module")
def service(demo_engine: EmbeddedEngine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    with running_service(Config(query_log="", jobs_path=tmp_path_factory.mktemp("names")), demo_engine) as service:
        yield service


@pytest.fixture(scope="module")
def catalogue(demo_engine: EmbeddedEngine) -> Catalogue:
    return catalogue_log.read_catalogue(demo_engine)


@pytest.fixture(scope="module")
def resolver(demo_engine: EmbeddedEngine) -> NameResolver:
    return NameResolver(demo_engine, None)


@pytest.mark.parametrize(
    ("name", "main_name", "ra", "dec"),
    [
        ("M31", "NGC0224", 10.6848, 41.2691),
        ("m 031", "NGC0224", 10.6848, 41.2691),
        ("NGC 224", "NGC0224", 10.6848, 41.2691),
        ("ngc0224", "NGC0224", 10.6848, 41.2691),
        ("NGC-224", "NGC0224", 10.6848, 41.2691),
        ("Messier 31", "NGC0224", 10.6848, 41.2691),
        ("MCG +07-02-016", "NGC0224", 10.6848, 41.2691),
        ("TYC 3105-02070-1", "TYC 3105-2070-1", 279.2347, 38.7837),
        ("  andromeda   GALAXY ", "NGC0224", 10.6848, 41.2691),
        ("Vega", "Vega", 279.2347, 38.7837),
        ("HIP 70890", "Proxima Centauri", 217.4289, -62.6795),
        ("hip91262", "TYC 3105-2070-1", 279.2347, 38.7837),
        ("Barnard's Star", "Barnard's star", 269.4521, 4.6934),
    ],
)
def test_names_are_found_however_they_are_written(
    resolver: NameResolver, catalogue: Catalogue, name: str, main_name: str, ra: float, dec: float
) -> None:
    found = resolver.find_objects(catalogue, name)
    assert main_name in {each.main_name for each in found}
    assert (found[0].ra, found[0].dec) == pytest.approx((ra, dec), abs=0.01)


def test_positions_are_refused_where_a_name_is_unknown_or_of_several_objects(
    resolver: NameResolver, catalogue: Catalogue
) -> None:
    look_up = resolver.make_lookup(catalogue)
    assert look_up is not None
    assert look_up("Vega") == pytest.approx((279.2347, 38.7837), abs=0.001)
    with pytest.raises(NameLookupError, match=r"no object called 'Andromda' is in .*did you mean Andromeda Galaxy"):
        look_up("Andromda")
    with pytest.raises(NameLookupError, match=r"no object called '\?\?' .*POINT"):
        look_up("??")
    with pytest.raises(NameLookupError, match=r"several objects: NGC6\d+ in openngc.objects at .*; NGC6\d+ in"):
        look_up("Eastern Veil")
    assert resolver.make_lookup(Catalogue(())) is None


def test_named_stars_are_where_tycho_2_has_their_hipparcos_numbers(demo_engine: EmbeddedEngine) -> None:
    """One component of each double star; Barnard's star and Proxima Centauri are too faint for the demo's part."""
    sql = """
        SELECT n.name, min(3600 * greatest(abs(n.ra - b.ra) * cos(radians(b.dec)), abs(n.dec - b.dec))) AS arcsec
        FROM tycho2.star_names AS n LEFT JOIN tycho2.bright AS b ON toInt64(n.hip) = toInt64(b.hip)
        GROUP BY n.name HAVING NOT (arcsec < 0.1) OR max(b.hip) IS NULL OR max(b.hip) = 0"""
    assert sorted(demo_engine.fetch_table(sql).column(0).to_pylist()) == ["Barnard's star", "Proxima Centauri"]


def test_a_caller_finds_names_in_the_tables_that_it_may_see(resolver: NameResolver, catalogue: Catalogue) -> None:
    restricted = replace(catalogue, grants={"openngc": frozenset({"staff"})})
    everybody = select_visible(restricted, frozenset())
    assert resolver.find_objects(everybody, "M31") == resolver.complete_name(everybody, "androm") == []
    assert resolver.find_objects(everybody, "Vega")
    assert resolver.find_objects(select_visible(restricted, frozenset({"staff"})), "M31")


def test_completions_are_the_brightest_names_that_begin_so(resolver: NameResolver, catalogue: Catalogue) -> None:
    found = resolver.complete_name(catalogue, "androm")
    assert found[0].name == "Andromeda Galaxy"
    assert len(resolver.complete_name(catalogue, "n")) == 10
    assert resolver.complete_name(catalogue, "") == []


def test_python_and_the_engine_compare_names_alike(demo_engine: EmbeddedEngine, catalogue: Catalogue) -> None:
    [entry] = [entry for entry in catalogue.entries if entry.qualified_name == "tycho2.star_names"]
    names = [
        "NGC 0224",
        "HD 00.010",
        "\u00c5land 007-08+09",
        "x'y\\`\"z",
        "SDSS J001206.08-002454.7",
        "\u039b Cet",
        "0",
        "00",
        "M-31",
        "MCG -02-01-031",
        "-.St. 5-.1-",
    ]
    expression = names_sql(entry.table)
    for name in names:
        quoted = name.replace("\\", "\\\\").replace("'", "\\'")
        sql = f"SELECT {expression}[1] FROM (SELECT '{quoted}' AS name, 1 AS hip)"
        assert demo_engine.fetch_table(sql).column(0).to_pylist() == [normalise_name(name)]


def test_the_index_answers(demo_engine: EmbeddedEngine, catalogue: Catalogue) -> None:
    [entry] = [entry for entry in catalogue.entries if entry.qualified_name == "tycho2.bright"]
    sql = f"SELECT ra FROM {entry.storage_sql} WHERE hasAny({names_sql(entry.table)}, ['hip91262'])"
    plan = "\n".join(demo_engine.fetch_table(f"EXPLAIN indexes = 1 {sql}").column(0).to_pylist())
    assert "names_" in plan
    assert "Granules: 1/" in plan


class TestRequests:
    def test_a_name(self, service: RunningService) -> None:
        [found] = requests.get(f"{service.tap}/names", timeout=60, params={"name": "M 57"}).json()["objects"]
        assert found["main_name"] == "NGC6720"
        assert found["table"] == "openngc.objects"
        assert (found["ra"], found["dec"]) == pytest.approx((283.396, 33.029), abs=0.01)

    def test_unknown_and_partial_names(self, service: RunningService) -> None:
        assert requests.get(f"{service.tap}/names", timeout=60, params={"name": "M 999"}).json()["objects"] == []
        answer = requests.get(f"{service.tap}/names", timeout=60, params={"name": "Andromda"}).json()
        assert answer == {"objects": [], "suggestions": ["Andromeda Galaxy"]}
        hostile = requests.get(f"{service.tap}/names", timeout=60, params={"name": "\\'] OR 1 = 1 --"})
        assert hostile.json()["objects"] == []
        names = [
            each["name"]
            for each in requests.get(f"{service.tap}/names", timeout=60, params={"prefix": "betelg"}).json()["objects"]
        ]
        assert names == ["Betelgeuse"]

    @pytest.mark.parametrize("query", ["", "?name=%20", "?name=a&prefix=a", f"?name={'x' * 101}"])
    def test_wrong_requests(self, service: RunningService, query: str) -> None:
        assert requests.get(f"{service.tap}/names{query}", timeout=60).status_code == 400

    def test_in_adql(self, service: RunningService) -> None:
        query = "SELECT name FROM openngc.objects WHERE DISTANCE(POINT(ra, dec), skyhouse_resolve('{}')) < 0.001"
        answer = requests.get(
            f"{service.tap}/sync",
            timeout=60,
            params={"LANG": "ADQL", "FORMAT": "csv", "QUERY": query.format("Andromeda Galaxy")},
        )
        assert answer.text.split() == ["name", "NGC0224"]
        answer = requests.get(
            f"{service.tap}/sync", timeout=60, params={"LANG": "ADQL", "QUERY": query.format("Andromda")}
        )
        assert answer.status_code == 400
        assert "line 1, column 82" in answer.text
        assert "did you mean" in answer.text
        assert "skyhouse_resolve(name TEXT)" in requests.get(f"{service.tap}/capabilities", timeout=60).text
