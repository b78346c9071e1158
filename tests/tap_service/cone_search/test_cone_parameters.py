"""The meaning of a cone search's parameters, and the messages about invalid ones."""

from __future__ import annotations

import pytest

from tap_service.service_errors import ParameterError
from tap_service.services.cone_search.cone_parameters import read_cone_parameters

CONE = {"RA": "180.5", "DEC": "-30", "SR": "0.25"}


def test_the_least() -> None:
    cone = read_cone_parameters(CONE.items())
    assert (cone.ra, cone.dec, cone.radius, cone.verbosity, cone.maxrec) == (180.5, -30.0, 0.25, 2, None)
    assert cone.format.mime == "text/xml;serialization=TABLEDATA;version=1.4"


def test_the_rest() -> None:
    given = {"ra": "0", "dec": "+9e1", "sr": " 180 ", "verb": "3", "maxrec": "7", "ResponseFormat": "csv", "x": "?"}
    cone = read_cone_parameters(given.items())
    assert (cone.ra, cone.dec, cone.radius, cone.verbosity, cone.maxrec) == (0.0, 90.0, 180.0, 3, 7)
    assert cone.format.extension == "csv"


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("RA", "", "give RA: a cone search takes RA, DEC and SR in degrees"),
        ("RA", "10:20:30", "RA=10:20:30 is not a number"),
        ("RA", "1_0", "RA=1_0 is not a number"),
        ("RA", "nan", "RA=nan is not a number"),
        ("RA", "1) OR (1=1", "RA=1) OR (1=1 is not a number"),
        ("RA", "360.1", "RA=360.1 is out of range: give decimal degrees from 0 to 360"),
        ("DEC", "91.0", "DEC=91.0 is out of range: give decimal degrees from -90 to 90"),
        ("SR", "inf", "SR=inf is not a number"),
        ("SR", "-1", "SR=-1 is out of range: give decimal degrees from 0 to 180"),
        ("VERB", "4", "unknown value VERB=4; give 1 for the fewest columns"),
        ("MAXREC", "many", "MAXREC=many is not a number of rows"),
        ("RESPONSEFORMAT", "png", "RESPONSEFORMAT='png' is unknown"),
    ],
)
def test_errors(name: str, value: str, message: str) -> None:
    with pytest.raises(ParameterError) as error:
        read_cone_parameters({**CONE, name: value}.items())
    assert str(error.value).startswith(message)


def test_one_value_each() -> None:
    with pytest.raises(ParameterError, match="RA is given more than once"):
        read_cone_parameters([*CONE.items(), ("ra", "1")])
