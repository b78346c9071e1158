"""The output formats: their RESPONSEFORMAT values, entries in /capabilities, and serializers."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import cast

from tap_service.serializers.arrow_serializer import ArrowFile, ArrowStream
from tap_service.serializers.csv_serializer import Csv, CsvWithoutHeader, Tsv
from tap_service.serializers.ecsv_serializer import Ecsv
from tap_service.serializers.fits_serializer import MAX_FITS_COLUMNS, Fits
from tap_service.serializers.html_serializer import Html
from tap_service.serializers.json_serializer import Json
from tap_service.serializers.parquet_serializer import Parquet
from tap_service.serializers.plain_text_serializer import PlainText
from tap_service.serializers.serializer import SerializerFactory
from tap_service.serializers.votable_dialect import VERSIONS
from tap_service.serializers.votable_serializer import Binary, Binary2, TableData, VOTable


class UnknownFormatError(ValueError):
    """RESPONSEFORMAT names an unknown format; the message lists the known ones."""


class TooManyColumnsError(ValueError):
    """The result has more columns than its format can have; the message has the limit and the way out."""


@dataclass(frozen=True, slots=True)
class Format:
    """An output format.

    Parameters
    ----------
    mime : str
        The media type, which RESPONSEFORMAT also accepts.
    aliases : tuple[str, ...]
        Further values of RESPONSEFORMAT.
    extension : str
        Extension of file names, without the dot.
    serializer : SerializerFactory
        Creates the serializer of one result.
    ivo_id : str
        Identifier of the format in TAPRegExt, '' if it has none.
    is_collection : bool
        Whether the result is a collection of files, which only jobs write; ``serializer`` writes its rows.
    max_columns : int | None
        Maximum number of columns; None for no limit.
    """

    mime: str
    aliases: tuple[str, ...]
    extension: str
    serializer: SerializerFactory
    ivo_id: str = ""
    is_collection: bool = False
    max_columns: int | None = None

    def check_columns(self, count: int) -> None:
        """Check the number of columns of a result.

        Parameters
        ----------
        count : int
            The number of columns.

        Raises
        ------
        TooManyColumnsError
            The format cannot have as many columns.
        """
        if self.max_columns is not None and count > self.max_columns:
            raise TooManyColumnsError(
                f"{self.aliases[0].upper()} has at most {self.max_columns} columns, and the result has {count:,}: "
                "select fewer columns, or use the format parquet or votable"
            )

    @property
    def is_votable(self) -> bool:
        """Whether the document is a VOTable, in which clients look for QUERY_STATUS."""
        return "xml" in self.mime

    @property
    def content_type(self) -> str:
        """The Content-Type of the response. Clients read text without a charset as Latin-1, except XML."""
        needs_charset = self.mime.startswith("text/") and not self.mime.startswith("text/xml")
        return f"{self.mime};charset=utf-8" if needs_charset else self.mime


_VOTABLE = "application/x-votable+xml"
_ID = "ivo://ivoa.net/std/TAPRegExt#output-votable-"

#: parameters that the media type of any VOTable may have; two different versions contradict each other
_DIALECT_WORDS = (*(f"version={number}" for number in VERSIONS), _MIVOT := "content=mivot")


@cache
def _change_dialect(entry: Format, words: frozenset[str]) -> Format:
    """Return a VOTable format with some of ``_DIALECT_WORDS``."""
    version = next((number for number in VERSIONS if f"version={number}" in words), "")
    write = partial(cast("type[VOTable]", entry.serializer), version=version, is_annotated=_MIVOT in words)
    named = [";".join((name, *sorted(words))) for name in (entry.mime, *entry.aliases)]
    return replace(entry, mime=named[0], aliases=tuple(named[1:]), serializer=write)


_VOTABLES = (
    # media type, aliases, extension, serializer, IVO ID
    Format(_VOTABLE, ("votable",), "vot", Binary2, _ID + "binary2"),
    Format(_VOTABLE + ";serialization=BINARY2", ("votable/b2",), "vot", Binary2, _ID + "binary2"),
    Format(_VOTABLE + ";serialization=BINARY", ("votable/b",), "vot", Binary, _ID + "binary"),
    Format(_VOTABLE + ";serialization=TABLEDATA", ("votable/td",), "vot", TableData, _ID + "td"),
    Format("text/xml", (), "xml", Binary2, _ID + "binary2"),
    Format("text/xml;serialization=TABLEDATA", (), "xml", TableData, _ID + "td"),
)

#: the first is the default
FORMATS = (
    *_VOTABLES,
    *(_change_dialect(_VOTABLES[0], frozenset({word})) for word in _DIALECT_WORDS),
    Format("text/csv;header=present", ("text/csv", "csv"), "csv", Csv),
    Format("text/csv;header=absent", (), "csv", CsvWithoutHeader),
    Format("text/tab-separated-values", ("tsv",), "tsv", Tsv),
    Format("application/fits", ("fits",), "fits", Fits, max_columns=MAX_FITS_COLUMNS),
    Format("application/vnd.apache.parquet", ("parquet",), "parquet", Parquet),
    Format("application/vnd.apache.arrow.stream", ("arrow",), "arrows", ArrowStream),
    Format("application/vnd.apache.arrow.file", ("arrow-file", "feather"), "arrow", ArrowFile),
    Format("application/json", ("json",), "json", Json),
    Format("text/ecsv", ("ecsv",), "ecsv", Ecsv),
    Format("text/html", ("html",), "html", Html),
    Format("text/plain", ("text", "txt"), "txt", PlainText),
)

#: A HATS collection of Parquet files in a ZIP archive (``tap_service.hats.writing.collection_archive``)
HATS = Format("application/zip", ("hats",), "zip", Parquet, is_collection=True)


def find_format(responseformat: str = "") -> Format:
    """Find the format for a value of RESPONSEFORMAT.

    Parameters
    ----------
    responseformat : str
        A media type or an alias; case, white space, the order of parameters and ``charset=utf-8`` are ignored. The
        empty string selects the default, the first of ``FORMATS``. Any VOTable's media type or alias may have the
        parameters ``version`` and ``content=mivot`` too.

    Returns
    -------
    Format
        The requested format.

    Raises
    ------
    UnknownFormatError
        No format has this name.
    """
    if not responseformat.strip():
        return FORMATS[0]
    kind, parameters = _normalise_mime_type(responseformat)
    words = parameters.intersection(_DIALECT_WORDS)
    found = _BY_NAME.get((kind, parameters - words))
    if found is not None and words:
        is_known = found.is_votable and sum(word != _MIVOT for word in words) <= 1
        found = _change_dialect(found, words) if is_known else None
    if found is None:
        known = ", ".join(name for entry in (*FORMATS, HATS) for name in (*entry.aliases, entry.mime))
        raise UnknownFormatError(
            f"RESPONSEFORMAT={responseformat[:100]!r} is unknown; the formats are: {known}. VOTables also take "
            f"{', '.join(f';{word}' for word in _DIALECT_WORDS)}"
        )
    return found


def _normalise_mime_type(name: str) -> tuple[str, frozenset[str]]:
    kind, *parameters = (re.sub(r"[\s\"]+", "", part).lower() for part in name.split(";"))
    return kind, frozenset(parameters) - {"", "charset=utf-8"}


_BY_NAME = {_normalise_mime_type(name): entry for entry in (*FORMATS, HATS) for name in (entry.mime, *entry.aliases)}
