"""The description of the service, from which the documents are written."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Feature:
    """A feature of the query language; ``form`` is the signature of a UDF, the name of a function, or a keyword."""

    form: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class FeatureList:
    """Features of one kind: TAPRegExt's 'udf', 'adqlgeo', 'adql-string', 'adql-sets' ..., or an IVOA identifier."""

    kind: str
    features: tuple[Feature, ...]


@dataclass(frozen=True, slots=True)
class Limit:
    """A default and a hard limit, in seconds, rows or bytes; None omits it."""

    default: int | None
    hard: int | None


@dataclass(frozen=True, slots=True)
class ServiceDescription:
    """The running service.

    Attributes
    ----------
    base_url
        Without a final slash.
    upload_methods
        TAPRegExt's 'inline', 'http', 'https', 'ftp'; without any, the document has no upload limit.
    sync_duration, job_output_limit
        The limits of one mode, which override ``execution_duration`` and ``output_limit``.
    has_mode_limits
        Whether /capabilities has them.
    links_url
        The address of DataLink's {links}, '' for none.
    security_methods
        Standard ids of login methods.
    anonymous
        Whether anonymous callers may use the service.
    """

    base_url: str
    title: str = ""
    description: str = ""
    features: tuple[FeatureList, ...] = ()
    upload_methods: tuple[str, ...] = ()
    data_models: tuple[tuple[str, str], ...] = ()  # (name, ivo-id)
    retention_period: Limit | None = None
    execution_duration: Limit | None = None
    sync_duration: Limit | None = None
    output_limit: Limit | None = None
    job_output_limit: Limit | None = None
    upload_limit: Limit | None = None
    has_mode_limits: bool = False
    links_url: str = ""
    anonymous: bool = True
    security_methods: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ConeSearch:
    """The cone search of a table.

    Attributes
    ----------
    table
        The table's name as queries write it.
    url
        The address to which parameters are added, without the question mark.
    test_position
        The position of a row, ICRS degrees; None if the table has no row with a position.
    """

    table: str
    url: str
    test_position: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Availability:
    """Instants are in UTC; ``down_at`` and ``back_at`` are those of the next downtime.

    ``notes`` are sentences for people, such as the cause of an outage.
    """

    available: bool
    up_since: datetime | None = None
    notes: tuple[str, ...] = ()
    down_at: datetime | None = None
    back_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Example:
    """A query for /examples; ``ident`` is an XML name, unique in the document, ``tables`` as queries name them."""

    ident: str
    name: str
    query: str
    description: str = ""
    tables: tuple[str, ...] = ()
