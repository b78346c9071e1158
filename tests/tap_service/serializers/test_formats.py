"""RESPONSEFORMAT: the format of each value, and the answer to an unknown value."""

from __future__ import annotations

import pytest

from tap_service.serializers import FORMATS, UnknownFormatError, find_format
from tap_service.serializers.csv_serializer import Csv, CsvWithoutHeader, Tsv
from tap_service.serializers.votable_serializer import Binary, Binary2, TableData

VOTABLE = "application/x-votable+xml"


@pytest.mark.parametrize(
    ("asked", "mime", "serializer"),
    [
        ("", VOTABLE, Binary2),
        ("votable", VOTABLE, Binary2),
        ("VOTable", VOTABLE, Binary2),
        ("application/x-votable+xml", VOTABLE, Binary2),
        ('APPLICATION/X-VOTABLE+XML ; Serialization = "tabledata"', VOTABLE + ";serialization=TABLEDATA", TableData),
        ("application/x-votable+xml;serialization=BINARY2", VOTABLE + ";serialization=BINARY2", Binary2),
        ("application/x-votable+xml;serialization=binary", VOTABLE + ";serialization=BINARY", Binary),
        ("votable/b2", VOTABLE + ";serialization=BINARY2", Binary2),
        ("votable/b", VOTABLE + ";serialization=BINARY", Binary),
        ("votable/td", VOTABLE + ";serialization=TABLEDATA", TableData),
        ("text/xml", "text/xml", Binary2),
        ("text/csv", "text/csv;header=present", Csv),
        ("csv", "text/csv;header=present", Csv),
        ("text/csv; charset=UTF-8", "text/csv;header=present", Csv),
        ("text/csv;header=absent;charset=utf-8", "text/csv;header=absent", CsvWithoutHeader),
        ("tsv", "text/tab-separated-values", Tsv),
        ("text/tab-separated-values;", "text/tab-separated-values", Tsv),
    ],
)
def test_a_format_is_found(asked, mime, serializer):
    found = find_format(asked)
    assert (found.mime, found.serializer) == (mime, serializer)


@pytest.mark.parametrize(
    "asked", ["xlsx", "text/csv;header=maybe", "text/csv;charset=latin-1", "votable;b2", ";", "tex"]
)
def test_an_unknown_format_is_refused_with_the_known_ones(asked):
    with pytest.raises(UnknownFormatError) as error:
        find_format(asked)
    message = str(error.value)
    assert repr(asked) in message
    for entry in FORMATS:
        assert entry.mime in message


def test_content_types():
    sent = {asked: find_format(asked).content_type for asked in ("", "votable/td", "text/xml", "csv", "tsv")}
    assert sent == {
        "": VOTABLE,
        "votable/td": VOTABLE + ";serialization=TABLEDATA",
        "text/xml": "text/xml",
        "csv": "text/csv;header=present;charset=utf-8",
        "tsv": "text/tab-separated-values;charset=utf-8",
    }


def test_no_two_formats_share_a_name():
    names = [name.lower() for entry in FORMATS for name in (entry.mime, *entry.aliases)]
    assert len(names) == len(set(names))
