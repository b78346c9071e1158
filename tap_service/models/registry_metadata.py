"""The contents of the file SKYHOUSE_REGISTRY: the operator's description of the service for the IVOA registry.

Terms are defined by VOResource 1.1 and by the vocabularies of the IVOA.
"""

from __future__ import annotations

import re
from datetime import date
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, model_validator

from clickhouse_schema.strict_model import StrictModel, Text

#: the resource key of the record that describes the registry
REGISTRY_KEY = "registry"

_AUTHORITY = re.compile(r"[a-z0-9][a-z0-9._-]{2,}")
_KEY = re.compile(r"[a-z0-9._-]+(/[a-z0-9._-]+)*")
_IVOID = re.compile(r"ivo://[\w][\w\-.!~*'()+=]{2,}(/[\w\-.!~*'()+=]+)*", re.ASCII)
_SUBJECT = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_MAIL = re.compile(r"[^\s@<>]+@[^\s@<>]+\.[^\s@<>]+")
_BIBCODE = re.compile(r"\d{4}[A-Za-z0-9&.]{14}[A-Z.]")


def is_bibcode(text: str) -> bool:
    """Return whether the text is a bibcode, which has 19 characters."""
    return _BIBCODE.fullmatch(text) is not None


def _check_pattern(pattern: re.Pattern[str], what: str) -> AfterValidator:
    def check(value: str) -> str:
        if not pattern.fullmatch(value):
            raise ValueError(f"{value!r} is not {what}")
        return value

    return AfterValidator(check)


def _check_line(value: str) -> str:
    if not value.strip():
        raise ValueError("is empty: write a text")
    return " ".join(value.split())


def _check_url(value: str) -> str:
    try:
        parts = urlsplit(value)
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not parts.netloc or any(c.isspace() for c in value):
        raise ValueError(f"{value!r} is not a web address: write https://...")
    return value


def _check_day(value: str) -> str:
    try:
        day = date.fromisoformat(value)
    except ValueError:
        raise ValueError(f"{value!r} is not a day: write it as 2026-01-31") from None
    return day.isoformat()


#: a text without line breaks
Line = Annotated[Text, AfterValidator(_check_line)]
Url = Annotated[Text, AfterValidator(_check_url)]
Day = Annotated[Text, AfterValidator(_check_day)]
Mail = Annotated[Text, _check_pattern(_MAIL, "a mail address")]
Ivoid = Annotated[Text, _check_pattern(_IVOID, "an IVOA identifier: write ivo://authority/path")]
Authority = Annotated[
    Text,
    _check_pattern(
        _AUTHORITY,
        "an authority: write three or more lower-case letters, digits, dots and hyphens, such as your domain",
    ),
]
Key = Annotated[
    Text,
    _check_pattern(_KEY, "the end of an identifier: write lower-case letters, digits and . _ - with / between parts"),
]
Subject = Annotated[
    Text,
    _check_pattern(
        _SUBJECT,
        "a term of the Unified Astronomy Thesaurus: write its identifier in https://www.ivoa.net/rdf/uat, such as "
        "proper-motions",
    ),
]
Bibcode = Annotated[Text, _check_pattern(_BIBCODE, "a bibcode: write its 19 characters, such as 2000A&A...355L..27H")]
ShortName = Annotated[Line, Field(max_length=16)]
Waveband = Literal["Radio", "Millimeter", "Infrared", "Optical", "UV", "EUV", "X-ray", "Gamma-ray", "Neutrino"]
ContentLevel = Literal["General", "Amateur", "University", "Research"]


class Contact(StrictModel):
    """The contact of the publisher."""

    name: Line
    email: Mail
    address: Line | None = None
    telephone: Line | None = None


class Rights(StrictModel):
    """A licence: its ``uri``, preferably https://spdx.org/licenses/..., and a ``text`` for people."""

    uri: Url
    text: Line | None = None


class Details(StrictModel):
    """Details of a record. A collection without a detail takes it over from the top level of the file."""

    creators: tuple[Line, ...] = ()
    subjects: tuple[Subject, ...] = ()
    reference_url: Url | None = None
    rights: Rights | None = None
    wavebands: tuple[Waveband, ...] = ()
    content_levels: tuple[ContentLevel, ...] = ()
    source: Bibcode | None = None
    created: Day | None = None


class ServiceMetadata(Details):
    """The TAP service. The settings have the defaults of ``title`` and ``description``."""

    id: Key = "tap"
    title: Line | None = None
    short_name: ShortName | None = None
    description: Text = ""


class Collection(Details):
    """Tables of a schema that have a separate record.

    Attributes
    ----------
    tables : tuple of str
        Names without the schema; empty for all tables of the schema.
    description, source, rights
        By default, the description, citation and licence of the schema.
    temporal : (float, float) or None
        First and last MJD of the data; None to find them in the tables.
    """

    id: Key
    table_schema: Text = Field(validation_alias="schema", serialization_alias="schema")
    tables: tuple[Text, ...] = ()
    title: Line
    short_name: ShortName | None = None
    description: Text = ""
    temporal: tuple[float, float] | None = None

    @model_validator(mode="after")
    def _check_temporal(self) -> Collection:
        if self.temporal is not None and not -1e6 < self.temporal[0] <= self.temporal[1] < 1e6:
            raise ValueError("temporal must be two MJDs, the earlier first: [47892.1, 49063.3]")
        return self


class RegistryMetadata(Details):
    """The complete file.

    Attributes
    ----------
    authority : str
        The part of identifiers after ivo://, which belongs to the publisher.
    publisher_id : str or None
        The identifier of the record that describes the publisher, if there is one.
    """

    authority: Authority
    publisher: Line
    publisher_id: Ivoid | None = None
    contact: Contact
    creators: Annotated[tuple[Line, ...], Field(min_length=1)]
    subjects: Annotated[tuple[Subject, ...], Field(min_length=1)]
    reference_url: Url
    created: Day
    content_levels: tuple[ContentLevel, ...] = ("Research",)
    service: ServiceMetadata = ServiceMetadata()
    collections: tuple[Collection, ...] = ()

    @model_validator(mode="after")
    def _check_ids(self) -> RegistryMetadata:
        ids = [REGISTRY_KEY, self.service.id, *(collection.id for collection in self.collections)]
        twice = next((key for key in ids if ids.count(key) > 1), None)
        if twice is not None:
            raise ValueError(
                f"two records have the id {twice!r}: give each record a different id ({REGISTRY_KEY!r} is reserved for "
                "the record of the registry)"
            )
        return self

    def make_identifier(self, key: str = "") -> str:
        """Return an IVOA identifier (IVOA Identifiers 2.0).

        Parameters
        ----------
        key : str
            The key of a record; '' for the authority itself.

        Returns
        -------
        str
            ``ivo://AUTHORITY/KEY``, or ``ivo://AUTHORITY``.
        """
        return f"ivo://{self.authority}/{key}" if key else f"ivo://{self.authority}"
