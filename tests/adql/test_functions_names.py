"""ivo_simbadpoint: names are looked up during translation; failures refuse the query with a reason."""

from __future__ import annotations

import pytest

from adql.errors import AdqlError
from adql.functions.object_name_functions import NameLookupError
from adql.translation import translate
from clickhouse_schema.catalogue import Catalogue
from tap_service.storage.engine.engine import Engine

_BARNARD = (269.452076958619, 4.69336496657667)


class KnownStar:
    """A lookup that knows one star and records the names."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, name: str) -> tuple[float, float]:
        self.asked.append(name)
        if name not in ("GJ 699", "M 31", "it's"):
            raise NameLookupError(f"no object called '{name}' is known")
        return _BARNARD


def test_catalogue_example(engine: Engine, small: Catalogue) -> None:
    translation = translate(
        "SELECT ivo_simbadpoint('GJ 699') FROM small.stars WHERE id = 1", small, positions=KnownStar()
    )
    assert translation.fields[0].type.xtype == "point"
    answer = engine.fetch_table(translation.sql, translation.settings)
    assert answer.column(0).to_pylist() == [list(_BARNARD)]


def test_named_position_is_a_point(sky: Catalogue) -> None:
    cone = "SELECT id FROM sky.points WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE({}, 1))"
    named = translate(cone.format("ivo_simbadpoint('GJ 699')"), sky, positions=KnownStar())
    plain = translate(cone.format(f"POINT({_BARNARD[0]}, {_BARNARD[1]})"), sky)
    assert named.sql == plain.sql  # with its cover


def test_each_name_is_looked_up_once(small: Catalogue) -> None:
    known = KnownStar()
    query = "WITH w AS (SELECT ivo_simbadpoint('GJ 699') AS p FROM stars) SELECT a.p, b.p, ivo_simbadpoint('GJ  699 '), ivo_simbadpoint('it''s') FROM w AS a, w AS b"
    translate(query, small, positions=known)
    assert sorted(known.asked) == ["GJ 699", "it's"]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("ivo_simbadpoint('an invalid identifier')", "no object called 'an invalid identifier' is known"),
        ("ivo_simbadpoint(name)", "takes one literal text"),
        ("ivo_simbadpoint('M ' || '31')", "takes one literal text"),
        ("ivo_simbadpoint(31)", "takes one literal text"),
        ("ivo_simbadpoint(NULL)", "takes one literal text"),
        ("ivo_simbadpoint()", "takes one literal text"),
        ("ivo_simbadpoint('M 31', 'M 32')", "takes one literal text"),
        ("ivo_simbadpoint('')", "has 1 to 100 characters"),
        ("ivo_simbadpoint('   ')", "has 1 to 100 characters"),
        ("ivo_simbadpoint('" + "M" * 101 + "')", "has 1 to 100 characters"),
    ],
)
def test_malformed_names_are_refused(call: str, said: str, small: Catalogue) -> None:
    with pytest.raises(AdqlError) as caught:
        translate(f"SELECT {call} FROM small.stars", small, positions=KnownStar())
    assert said in caught.value.message


def test_number_of_names_is_limited(small: Catalogue) -> None:
    calls = ", ".join(f"ivo_simbadpoint('NGC {i}')" for i in range(6))
    with pytest.raises(AdqlError, match="a query may have at most 5 object names"):
        translate(f"SELECT {calls} FROM small.stars", small, positions=lambda _: _BARNARD)


def test_function_is_refused_without_a_lookup(small: Catalogue) -> None:
    with pytest.raises(AdqlError, match="does not resolve object names") as caught:
        translate("SELECT ivo_simbadpoint('M 31') FROM small.stars", small)
    assert caught.value.hint == "write the position, POINT(ra, dec)"
