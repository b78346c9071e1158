"""The output formats, one a line: what RESPONSEFORMAT takes, what /capabilities says, what is sent back."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tap_service.serializers.arrow_serializer import ArrowFile, ArrowStream
from tap_service.serializers.csv_serializer import Csv, CsvWithoutHeader, Tsv
from tap_service.serializers.ecsv_serializer import Ecsv
from tap_service.serializers.fits_serializer import Fits
from tap_service.serializers.html_serializer import Html
from tap_service.serializers.json_serializer import Json
from tap_service.serializers.parquet_serializer import Parquet
from tap_service.serializers.plain_text_serializer import PlainText
from tap_service.serializers.serializer import SerializerFactory
from tap_service.serializers.votable_serializer import Binary, Binary2, TableData


class UnknownFormatError(ValueError):
    """RESPONSEFORMAT names no format; the message lists them."""


@dataclass(frozen=True, slots=True)
class Format:
    """``mime`` and ``aliases`` are the values of RESPONSEFORMAT that ask for it.

    ``tells_status``: clients look for the end of the query in the document. Of all others they learn it from the
    headers, which wait a little for it.
    """

    mime: str
    aliases: tuple[str, ...]
    extension: str
    serializer: SerializerFactory
    ivo_id: str = ""
    tells_status: bool = True

    @property
    def content_type(self) -> str:
        """The response's Content-Type: clients take text without a charset for Latin-1; XML says its own."""
        says_its_own = self.mime.startswith("text/xml") or not self.mime.startswith("text/")
        return self.mime if says_its_own else f"{self.mime};charset=utf-8"


_VOTABLE = "application/x-votable+xml"
_ID = "ivo://ivoa.net/std/TAPRegExt#output-votable-"

#: the first is the default
FORMATS = (
    #      Content-Type                            aliases                        file   serializer        ivo-id
    Format(_VOTABLE, ("votable",), "vot", Binary2, _ID + "binary2"),
    Format(_VOTABLE + ";serialization=BINARY2", ("votable/b2",), "vot", Binary2, _ID + "binary2"),
    Format(_VOTABLE + ";serialization=BINARY", ("votable/b",), "vot", Binary, _ID + "binary"),
    Format(_VOTABLE + ";serialization=TABLEDATA", ("votable/td",), "vot", TableData, _ID + "td"),
    Format("text/xml", (), "xml", Binary2, _ID + "binary2"),
    Format("text/xml;serialization=TABLEDATA", (), "xml", TableData, _ID + "td"),
    Format("text/csv;header=present", ("text/csv", "csv"), "csv", Csv, tells_status=False),
    Format("text/csv;header=absent", (), "csv", CsvWithoutHeader, tells_status=False),
    Format("text/tab-separated-values", ("tsv",), "tsv", Tsv, tells_status=False),
    Format("application/fits", ("fits",), "fits", Fits, tells_status=False),
    Format("application/vnd.apache.parquet", ("parquet",), "parquet", Parquet, tells_status=False),
    Format("application/vnd.apache.arrow.stream", ("arrow",), "arrows", ArrowStream, tells_status=False),
    Format("application/vnd.apache.arrow.file", ("arrow-file", "feather"), "arrow", ArrowFile, tells_status=False),
    Format("application/json", ("json",), "json", Json, tells_status=False),
    Format("text/ecsv", ("ecsv",), "ecsv", Ecsv, tells_status=False),
    Format("text/html", ("html",), "html", Html, tells_status=False),
    Format("text/plain", ("text", "txt"), "txt", PlainText, tells_status=False),
)


def find_format(responseformat: str = "") -> Format:
    """The format that a RESPONSEFORMAT value asks for, the default for an empty one.

    Case, white space, the order of parameters and ``charset=utf-8`` do not matter. Raises ``UnknownFormatError``.
    """
    if not responseformat.strip():
        return FORMATS[0]
    found = _BY_NAME.get(_normalise_mime_type(responseformat))
    if found is None:
        known = ", ".join(name for entry in FORMATS for name in (*entry.aliases, entry.mime))
        raise UnknownFormatError(f"RESPONSEFORMAT={responseformat[:100]!r} is not known; the formats are: {known}")
    return found


def _normalise_mime_type(name: str) -> tuple[str, frozenset[str]]:
    kind, *parameters = (re.sub(r"[\s\"]+", "", part).lower() for part in name.split(";"))
    return kind, frozenset(parameters) - {"", "charset=utf-8"}


_BY_NAME = {_normalise_mime_type(name): entry for entry in FORMATS for name in (entry.mime, *entry.aliases)}
