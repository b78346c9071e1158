"""LINKs of columns, and services that take values from a table's columns, as in VOTable and DataLink.

URLs are written to results unchanged, so only http and https URLs with a literal host and the characters of RFC 3986
are accepted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Literal

from pydantic import AfterValidator, model_validator
from pydantic import Field as Key

from clickhouse_schema.datatypes import FELIS, INTEGERS, NUMBERS, TEXT, ColumnType, complete_arraysize
from clickhouse_schema.strict_model import Arraysize, Datatype, Name, StrictModel, Text, felis_key

#: A column's value in an href (VOTable 1.5, appendix A.1).
_COLUMN_PLACEHOLDER = re.compile(r"\$\{([^{}]*)\}")

_REST = r"(?:[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*"
_HOST = r"(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?"
_URL = re.compile(f"(?i:https?)://{_HOST}(?:[/?#]{_REST})?")
_IVOID = re.compile(rf"(?i:ivo)://[A-Za-z0-9][A-Za-z0-9._~!*'()+=-]{{2,}}(?:[/?#]{_REST})?")

_WORD = r"[A-Za-z0-9!#$&^_.+*-]+"
_MEDIA_TYPE = re.compile(rf'{_WORD}/{_WORD}(?: ?; ?{_WORD}=(?:{_WORD}|"[ -!#-~]*"))*')


def _check_line(value: str) -> str:
    if not value.isprintable():
        raise ValueError(f"{value!r} has a control character: only printable characters can be here")
    return value


def _check_not_empty(value: str) -> str:
    if not value:
        raise ValueError("is empty: give a text")
    return value


def _check_url(value: str) -> str:
    if value and not _URL.fullmatch(value):
        raise ValueError(f"{value!r} is not a URL: write http:// or https://, a host, and what is not ASCII as %XX")
    return value


def _check_href(value: str) -> str:
    """Check an href; a placeholder instead of a host or port is rejected."""
    _check_line(value)
    if not _URL.fullmatch(_COLUMN_PLACEHOLDER.sub("%20", value)):
        advice = "write http:// or https://, a host, then any ${column}, and what is not ASCII as %XX"
        raise ValueError(f"{value!r} is not a URL: {advice}")
    return value


def _check_access_url(value: str) -> str:
    if not value or "#" in value:
        raise ValueError(f"{value!r} is not a URL that parameters could be appended to: write one without a fragment")
    return _check_url(value)


def _check_ivoid(value: str) -> str:
    if value and not _IVOID.fullmatch(value):
        raise ValueError(f"{value!r} is not an IVOA identifier: write ivo://authority/name")
    return value


def _check_media_type(value: str) -> str:
    if value and not _MEDIA_TYPE.fullmatch(value):
        raise ValueError(f"{value!r} is not a media type: write one as text/html")
    return value


Line = Annotated[str, AfterValidator(_check_line)]
Option = Annotated[Line, AfterValidator(_check_not_empty)]
Url = Annotated[str, AfterValidator(_check_url)]
MediaType = Annotated[str, AfterValidator(_check_media_type)]
IvoId = Annotated[str, AfterValidator(_check_ivoid)]
Number = Annotated[int | float, Key(allow_inf_nan=False)]


class Link(StrictModel):
    """VOTable's LINK. In ``href``, ``${column}`` stands for that column's value in each row."""

    href: Annotated[str, AfterValidator(_check_href)]
    content_role: Literal["", "doc", "hints", "location", "query", "type"] = felis_key("content-role")
    content_type: MediaType = felis_key("content-type")
    title: Line = ""
    value: Line = ""

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The columns whose values ``href`` takes."""
        return tuple(dict.fromkeys(_COLUMN_PLACEHOLDER.findall(self.href)))

    def rename_href_columns(self, names: Mapping[str, str]) -> str:
        """Return ``href`` with other names for its columns.

        Parameters
        ----------
        names : mapping of str to str
            New name of each of ``columns``.

        Returns
        -------
        str
            A URL with placeholders.

        Raises
        ------
        KeyError
            ``names`` lacks one of ``columns``.
        """
        return _COLUMN_PLACEHOLDER.sub(lambda match: "${" + names[match[1]] + "}", self.href)


class InputParam(StrictModel):
    """An input of a service: the value of the column ``ref``, the constant ``value``, or an input of the user.

    The other keys describe the user's input: its type, as for columns, and the range of a number or the possible texts.
    """

    name: Name
    ref: Line = ""
    value: Line = ""
    description: Text = ""
    datatype: Datatype = "string"
    arraysize: Arraysize = felis_key("votable:arraysize")
    xtype: Line = felis_key("votable:xtype")
    utype: Line = felis_key("votable:utype")
    ucd: Line = felis_key("ivoa:ucd")
    unit: Line = felis_key("ivoa:unit")
    min: Number | None = None
    max: Number | None = None
    options: tuple[Option, ...] = ()

    @model_validator(mode="after")
    def _check_consistency(self) -> InputParam:
        fields = type(self).model_fields.items()
        given = {key: field.serialization_alias or key for key, field in fields if getattr(self, key) != field.default}
        described = sorted(given[key] for key in given.keys() - {"name", "ref", "value", "description"})
        if self.ref and self.value:
            raise ValueError(f"the parameter {self.name} has ref, a column, and value, a constant: keep one of them")
        if (self.ref or self.value) and described:
            raise ValueError(f"the parameter {self.name} is not an input of the user: remove {', '.join(described)}")
        limits = [limit for limit in (self.min, self.max) if limit is not None]
        if limits and self.type.datatype not in NUMBERS:
            raise ValueError(f"the parameter {self.name} is not a number: min and max are for numbers")
        if self.type.datatype in INTEGERS and any(isinstance(limit, float) for limit in limits):
            raise ValueError(f"the parameter {self.name} takes whole numbers: min and max must be whole numbers too")
        if self.options and self.type.datatype not in TEXT:
            raise ValueError(f"the parameter {self.name} is not text: options are for texts")
        return self

    @cached_property
    def type(self) -> ColumnType:
        """The type of a constant or of the user's input."""
        datatype = FELIS[self.datatype]
        if datatype in TEXT and not (self.value + "".join(self.options)).isascii():
            datatype = "unicodeChar"
        xtype = "timestamp" if self.datatype == "timestamp" else self.xtype
        return ColumnType(datatype, complete_arraysize(self.datatype, datatype, self.arraysize), xtype)


class Service(StrictModel):
    """A service descriptor (DataLink 1.1, section 4). ``standard_id``: '' for a service without a standard."""

    name: Name
    description: Text = ""
    standard_id: IvoId = felis_key("standardID")
    resource_identifier: IvoId = felis_key("resourceIdentifier")
    access_url: Annotated[str, AfterValidator(_check_access_url)] = felis_key("accessURL", ...)
    content_type: MediaType = felis_key("contentType")
    example_url: Url = felis_key("exampleURL")
    input_params: Annotated[tuple[InputParam, ...], Key(min_length=1)] = felis_key("inputParams", ...)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The columns whose values it takes."""
        return tuple(dict.fromkeys(param.ref for param in self.input_params if param.ref))


# --- in results -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PlacedLink:
    """A LINK of the result column at ``index``; ``columns``: indexes of the columns in its href."""

    index: int
    link: Link
    columns: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class PlacedService:
    """``columns``: indexes in the result of the columns whose values ``service`` takes.

    ``ident``: XML ID of the descriptor if values of the result refer to it, '' otherwise.
    """

    service: Service
    columns: Mapping[str, int]
    ident: str = ""


@dataclass(frozen=True, slots=True)
class ResultLinks:
    of_columns: tuple[PlacedLink, ...] = ()
    services: tuple[PlacedService, ...] = ()


NO_LINKS = ResultLinks()
