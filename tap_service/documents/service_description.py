"""Descriptions of the service, from which documents are written."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Feature:
    """A feature of the query language.

    Attributes
    ----------
    form : str
        The signature of a user defined function, the name of a function, or a keyword.
    description : str
        A description, '' for none.
    """

    form: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class FeatureList:
    """Features of one ``kind``: ``udf``, ``adqlgeo``, ``adql-string`` ... of TAPRegExt, or an IVOA identifier."""

    kind: str
    features: tuple[Feature, ...]


@dataclass(frozen=True, slots=True)
class Limit:
    """A default and a hard limit, in seconds, rows or bytes; None omits it."""

    default: int | None
    hard: int | None


@dataclass(frozen=True, slots=True)
class ServiceDescription:
    """The running TAP service.

    Attributes
    ----------
    base_url : str
        The URL of the service, without a slash at its end.
    title, description : str
        The title and the description of the service.
    features : tuple of FeatureList
        The features of the query language.
    upload_methods : tuple of str
        ``inline``, ``http``, ``https``, ``ftp`` of TAPRegExt; without any, the document has no upload limit.
    data_models : tuple of (str, str)
        The name and the IVOA identifier of each data model.
    retention_period, execution_duration : Limit or None
        Limits in seconds.
    output_limit : Limit or None
        Limit in rows.
    upload_limit : Limit or None
        Limit in bytes.
    sync_duration, job_output_limit : Limit or None
        The limits of one mode, which override ``execution_duration`` and ``output_limit``.
    has_mode_limits : bool
        Whether /capabilities contains the limits of one mode.
    links_url : str
        The URL of {links} of DataLink, '' for none.
    anonymous : bool
        Whether anonymous clients may use the service.
    security_methods : tuple of str
        The standard ids of the login methods.
    """

    base_url: str
    title: str = ""
    description: str = ""
    features: tuple[FeatureList, ...] = ()
    upload_methods: tuple[str, ...] = ()
    data_models: tuple[tuple[str, str], ...] = ()
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
    table : str
        The name of the table, as queries write it.
    url : str
        The URL to which parameters are added, without the question mark.
    test_position : (float, float) or None
        The position of a row, ICRS, in degrees; None if the table has no row with a position.
    """

    table: str
    url: str
    test_position: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Availability:
    """The availability of the service. Instants are in UTC.

    Attributes
    ----------
    available : bool
        Whether the service accepts queries.
    up_since : datetime or None
        The start of the service.
    notes : tuple of str
        Sentences for people, such as the cause of an outage.
    down_at, back_at : datetime or None
        The start and the end of the next downtime.
    """

    available: bool
    up_since: datetime | None = None
    notes: tuple[str, ...] = ()
    down_at: datetime | None = None
    back_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Example:
    """A query of /examples.

    Attributes
    ----------
    ident : str
        An XML name, unique in the document.
    name, query, description : str
        The title, the ADQL and the description.
    tables : tuple of str
        The tables of the query, as queries write them.
    """

    ident: str
    name: str
    query: str
    description: str = ""
    tables: tuple[str, ...] = ()
