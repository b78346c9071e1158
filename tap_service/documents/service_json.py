"""Availability and capabilities in JSON. Capabilities are converted from the XML, so only one module lists them."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from pydantic import Field

from tap_service.documents.capabilities_document import capabilities_document
from tap_service.documents.cone_search_document import cone_search_document
from tap_service.documents.service_description import Availability, ConeSearch, ServiceDescription
from tap_service.models.json_document import Instant, JsonDocument


class AvailabilityDocument(JsonDocument):
    """Whether the service accepts queries; ``downAt`` and ``backAt`` are the start and the end of the next downtime."""

    available: bool
    up_since: Instant | None
    down_at: Instant | None
    back_at: Instant | None
    notes: list[str]


class InterfaceDocument(JsonDocument):
    """An interface; ``securityMethods`` are the standard ids of login methods, '' for anonymous access."""

    access_url: str
    use: str
    role: str
    version: str
    security_methods: list[str]


class CapabilityDocument(JsonDocument):
    """A capability of the service, with its interface."""

    standard_id: str
    interface: InterfaceDocument


class DataModelDocument(JsonDocument):
    """A data model to which tables of the service conform."""

    name: str
    ivo_id: str


class FeatureDocument(JsonDocument):
    """A feature of the query language; ``form`` is a signature, a name or a keyword."""

    form: str
    description: str


class FeatureListDocument(JsonDocument):
    """Features of one type; ``type`` is an IVOA identifier."""

    type: str
    features: list[FeatureDocument]


class LanguageDocument(JsonDocument):
    """A query language, with its versions and optional features."""

    name: str
    versions: list[str]
    language_features: list[FeatureListDocument]


class OutputFormatDocument(JsonDocument):
    """An output format, with the short names that RESPONSEFORMAT accepts."""

    mime: str
    aliases: list[str]
    ivo_id: str


class LimitDocument(JsonDocument):
    """A limit in seconds, rows or bytes, for requests to /sync, for jobs, or for both."""

    for_mode: str = Field(description="sync, async, or '' for both; a limit for one mode overrides the limit for both")
    default: int | None
    hard: int | None


class TableAccessDocument(JsonDocument):
    """The capability of the TAP service by TAPRegExt 1.1."""

    description: str
    data_models: list[DataModelDocument]
    languages: list[LanguageDocument]
    output_formats: list[OutputFormatDocument]
    upload_methods: list[str]
    retention_period: list[LimitDocument]
    execution_duration: list[LimitDocument]
    output_limit: list[LimitDocument]
    upload_limit: list[LimitDocument]


class CapabilitiesDocument(JsonDocument):
    """The capabilities of the TAP service."""

    capabilities: list[CapabilityDocument]
    table_access: TableAccessDocument


class ConeParameterDocument(JsonDocument):
    """A parameter of a cone search; ``use`` is required or optional."""

    name: str
    description: str
    unit: str
    ucd: str
    data_type: str
    use: str


class ConeTestDocument(JsonDocument):
    """Parameters of a cone search that finds a row."""

    ra: float
    dec: float
    sr: float
    verb: int


class ConeSearchDocument(JsonDocument):
    """The capability of a cone search by SimpleDALRegExt 1.2; ``testQuery`` is null if the table has no rows."""

    description: str
    parameters: list[ConeParameterDocument]
    max_sr: float = Field(serialization_alias="maxSR")
    max_records: int | None
    verbosity: bool
    test_query: ConeTestDocument | None


class ConeCapabilitiesDocument(JsonDocument):
    """The capabilities of a cone search."""

    capabilities: list[CapabilityDocument]
    cone_search: ConeSearchDocument


def describe_availability(availability: Availability) -> AvailabilityDocument:
    """Return the availability as a document."""
    return AvailabilityDocument(
        available=availability.available,
        up_since=availability.up_since,
        down_at=availability.down_at,
        back_at=availability.back_at,
        notes=list(availability.notes),
    )


def describe_capabilities(service: ServiceDescription) -> CapabilitiesDocument:
    """Return the capabilities of the TAP service as a document, with the limits of each mode.

    Parameters
    ----------
    service : ServiceDescription
        The service. Its ``has_mode_limits`` is ignored.
    """
    root = ElementTree.fromstring(capabilities_document(replace(service, has_mode_limits=True)))  # noqa: S314 (own)
    capabilities = root.findall("capability")
    return CapabilitiesDocument(
        capabilities=[_read_capability(each) for each in capabilities],
        table_access=next(_read_table_access(each) for each in capabilities if each.find("language") is not None),
    )


def describe_cone_capabilities(cone: ConeSearch, service: ServiceDescription) -> ConeCapabilitiesDocument:
    """Return the capabilities of a cone search as a document.

    Parameters
    ----------
    cone : ConeSearch
        The cone search of a table.
    service : ServiceDescription
        The service, with its URLs and login methods.
    """
    capabilities = ElementTree.fromstring(cone_search_document(cone, service)).findall("capability")  # noqa: S314 (own)
    return ConeCapabilitiesDocument(
        capabilities=[_read_capability(each) for each in capabilities], cone_search=_read_cone_search(capabilities[0])
    )


def _read_cone_search(capability: Element) -> ConeSearchDocument:
    test = {each.tag: float(each.text or "") for each in capability.findall("testQuery/*")}
    return ConeSearchDocument(
        description=capability.findtext("description", ""),
        parameters=[
            ConeParameterDocument(
                name=each.findtext("name", ""),
                description=each.findtext("description", ""),
                unit=each.findtext("unit", ""),
                ucd=each.findtext("ucd", ""),
                data_type=each.findtext("dataType", ""),
                use=each.get("use", ""),
            )
            for each in capability.findall("interface/param")
        ],
        max_sr=float(capability.findtext("maxSR", "")),
        max_records=_read_number(capability, "maxRecords"),
        verbosity=capability.findtext("verbosity") == "true",
        test_query=ConeTestDocument(ra=test["ra"], dec=test["dec"], sr=test["sr"], verb=int(test["verb"]))
        if test
        else None,
    )


def _read_capability(capability: Element) -> CapabilityDocument:
    interface = capability.find("interface")
    assert interface is not None  # noqa: S101 (each capability has an interface)
    url = interface.find("accessURL")
    assert url is not None  # noqa: S101
    return CapabilityDocument(
        standard_id=capability.get("standardID", ""),
        interface=InterfaceDocument(
            access_url=url.text or "",
            use=url.get("use", ""),
            role=interface.get("role", ""),
            version=interface.get("version", ""),
            security_methods=[each.get("standardID", "") for each in interface.findall("securityMethod")],
        ),
    )


def _read_table_access(capability: Element) -> TableAccessDocument:
    return TableAccessDocument(
        description=capability.findtext("description", ""),
        data_models=[
            DataModelDocument(name=each.text or "", ivo_id=each.get("ivo-id", ""))
            for each in capability.findall("dataModel")
        ],
        languages=[_read_language(each) for each in capability.findall("language")],
        output_formats=[
            OutputFormatDocument(
                mime=each.findtext("mime", ""),
                aliases=[alias.text or "" for alias in each.findall("alias")],
                ivo_id=each.get("ivo-id", ""),
            )
            for each in capability.findall("outputFormat")
        ],
        upload_methods=[each.get("ivo-id", "") for each in capability.findall("uploadMethod")],
        retention_period=_read_limits(capability, "retentionPeriod"),
        execution_duration=_read_limits(capability, "executionDuration"),
        output_limit=_read_limits(capability, "outputLimit"),
        upload_limit=_read_limits(capability, "uploadLimit"),
    )


def _read_language(language: Element) -> LanguageDocument:
    return LanguageDocument(
        name=language.findtext("name", ""),
        versions=[each.text or "" for each in language.findall("version")],
        language_features=[
            FeatureListDocument(
                type=each.get("type", ""),
                features=[
                    FeatureDocument(form=one.findtext("form", ""), description=one.findtext("description", ""))
                    for one in each.findall("feature")
                ],
            )
            for each in language.findall("languageFeatures")
        ],
    )


def _read_limits(capability: Element, name: str) -> list[LimitDocument]:
    return [
        LimitDocument(
            for_mode=each.get("forMode", ""),
            default=_read_number(each, "default"),
            hard=_read_number(each, "hard"),
        )
        for each in capability.findall(name)
    ]


def _read_number(parent: Element, name: str) -> int | None:
    text = parent.findtext(name)
    return None if text is None else int(text)
