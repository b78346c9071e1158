"""What the service says about itself: the input of the documents, filled in by whoever builds the service."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Feature:
    """One feature of the query language: ``form`` is a UDF's signature, a function's name, or a keyword."""

    form: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class FeatureList:
    """Features of one kind.

    ``kind`` is TAPRegExt's word ('udf', 'adqlgeo', 'adql-string', 'adql-sets' ...), or the identifier of another one.
    """

    kind: str
    features: tuple[Feature, ...]


@dataclass(frozen=True, slots=True)
class Limit:
    """A default and a hard limit; seconds for times, rows or bytes for data. None = not said."""

    default: int | None
    hard: int | None


@dataclass(frozen=True, slots=True)
class ServiceDescription:
    """All of it is true of the running service. ``base_url`` has no slash at its end.

    ``upload_methods`` are TAPRegExt's words 'inline', 'http', 'https', 'ftp'; without any, no upload limit is said.
    ``security_methods`` are standard ids of ways to log in; ``anonymous`` tells whether it also goes without.
    """

    base_url: str
    title: str = ""
    description: str = ""
    features: tuple[FeatureList, ...] = ()
    upload_methods: tuple[str, ...] = ()
    data_models: tuple[tuple[str, str], ...] = ()  # (name, ivo-id)
    retention_period: Limit | None = None
    execution_duration: Limit | None = None
    output_limit: Limit | None = None
    upload_limit: Limit | None = None
    anonymous: bool = True
    security_methods: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Availability:
    """``up_since`` is UTC; ``notes`` are sentences for people, such as what is out of order."""

    available: bool
    up_since: datetime | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Example:
    """A query for /examples. ``ident`` is an XML name, unique in the document; ``tables`` are qualified names."""

    ident: str
    name: str
    query: str
    description: str = ""
    tables: tuple[str, ...] = ()
