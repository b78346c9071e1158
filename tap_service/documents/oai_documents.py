"""The answers of OAI-PMH 2.0: the envelope, the six verbs and the errors.

In the IVOA's profile (Registry Interfaces 1.1, section 3), the answer to Identify contains the registry's own record,
and all records of the publisher are in the set ivo_managed. Elements within records have no namespace, so the namespace
of OAI cannot be the default.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tap_service.documents.registry_records import DUBLIN_CORE_NAMESPACE, DUBLIN_CORE_SCHEMA, RESOURCE_NAMESPACE
from tap_service.models.registry_record import RegistryRecord
from tap_service.models.timestamps import format_second
from tap_service.xml_text import DECLARATION, Markup, element, join_lines, tag

#: the set of all records that this registry's publisher manages
MANAGED_SET = "ivo_managed"

RESOURCE_PREFIX = "ivo_vor"
DUBLIN_CORE_PREFIX = "oai_dc"

#: prefix -> URL of the schema, namespace
METADATA_FORMATS = {
    RESOURCE_PREFIX: (RESOURCE_NAMESPACE, RESOURCE_NAMESPACE),
    DUBLIN_CORE_PREFIX: (DUBLIN_CORE_SCHEMA, DUBLIN_CORE_NAMESPACE),
}

_OAI = "http://www.openarchives.org/OAI/2.0/"
_NAMESPACES = {
    "xmlns:oai": _OAI,
    "xmlns:xsi": "http://www.w3.org/2001/XMLSchema-instance",
    "xsi:schemaLocation": f"{_OAI} {_OAI}OAI-PMH.xsd",
}


@dataclass(frozen=True, slots=True)
class Page:
    """A page of a list of records.

    Attributes
    ----------
    records : tuple of RegistryRecord
        The records of this page.
    begin : int
        The number of records on the pages before this one.
    size : int
        The number of records of the complete list.
    token : str
        The resumption token of the next page; empty on the last page.
    """

    records: tuple[RegistryRecord, ...]
    begin: int
    size: int
    token: str


def oai_document(url: str, arguments: Mapping[str, str], answered: int, content: Markup) -> bytes:
    """Return an answer.

    Parameters
    ----------
    url : str
        The URL of /oai.
    arguments : Mapping[str, str]
        The arguments of the request including the verb; none if they were invalid.
    answered : int
        The Unix time of the answer, in seconds.
    content : Markup
        The element of the verb or of the error.
    """
    document = tag(
        "oai:OAI-PMH",
        _NAMESPACES,
        join_lines(
            element("oai:responseDate", format_second(answered)),
            tag("oai:request", {name: value for name, value in arguments.items() if value}, url),
            content,
        ),
    )
    return (DECLARATION + document + "\n").encode()


def error_element(code: str, message: str) -> Markup:
    """Return the element of an error.

    Parameters
    ----------
    code : str
        An error code of OAI-PMH 2.0 (section 3.6), such as ``badArgument``.
    message : str
        The message for the harvester.
    """
    return element("oai:error", message, code=code)


def identify_element(name: str, url: str, mail: str, earliest: int, registry: RegistryRecord) -> Markup:
    """Return the answer to Identify.

    Parameters
    ----------
    name : str
        The name of the registry.
    url : str
        The URL of /oai.
    mail : str
        The mail address of the operator.
    earliest : int
        The Unix time of the earliest datestamp, in seconds.
    registry : RegistryRecord
        The registry's own record.
    """
    return element(
        "oai:Identify",
        join_lines(
            element("oai:repositoryName", name),
            element("oai:baseURL", url),
            element("oai:protocolVersion", "2.0"),
            element("oai:adminEmail", mail),
            element("oai:earliestDatestamp", format_second(earliest)),
            element("oai:deletedRecord", "persistent"),
            element("oai:granularity", "YYYY-MM-DDThh:mm:ssZ"),
            element("oai:description", registry.resource),
        ),
    )


def formats_element() -> Markup:
    """Return the answer to ListMetadataFormats."""
    return element(
        "oai:ListMetadataFormats",
        join_lines(
            *(
                element(
                    "oai:metadataFormat",
                    join_lines(
                        element("oai:metadataPrefix", prefix),
                        element("oai:schema", schema),
                        element("oai:metadataNamespace", namespace),
                    ),
                )
                for prefix, (schema, namespace) in METADATA_FORMATS.items()
            )
        ),
    )


def sets_element() -> Markup:
    """Return the answer to ListSets."""
    about = (element("oai:setSpec", MANAGED_SET), element("oai:setName", "Records of this publisher"))
    return element("oai:ListSets", element("oai:set", *about))


def found_element(record: RegistryRecord, prefix: str) -> Markup:
    """Return the answer to GetRecord.

    Parameters
    ----------
    record : RegistryRecord
        The record with its content.
    prefix : str
        The metadataPrefix of the request: RESOURCE_PREFIX, or otherwise Dublin Core.
    """
    return element("oai:GetRecord", record_element(record, prefix))


def record_element(record: RegistryRecord, prefix: str) -> Markup:
    """Return a record in one format.

    Parameters
    ----------
    record : RegistryRecord
        The record with its content.
    prefix : str
        The metadataPrefix: RESOURCE_PREFIX, or otherwise Dublin Core.

    Returns
    -------
    Markup
        The record; a deleted record consists of its header.
    """
    header = header_element(record)
    if record.is_deleted:
        return element("oai:record", header)
    content = record.resource if prefix == RESOURCE_PREFIX else record.dublin_core
    return element("oai:record", join_lines(header, element("oai:metadata", content)))


def header_element(record: RegistryRecord) -> Markup:
    """Return the header of a record."""
    children = (
        element("oai:identifier", record.identifier),
        element("oai:datestamp", format_second(record.changed)),
        element("oai:setSpec", MANAGED_SET),
    )
    return element("oai:header", *children, status="deleted" if record.is_deleted else "")


def list_element(verb: str, entries: Iterable[Markup], page: Page) -> Markup:
    """Return the answer to a list verb: one page of a list.

    Parameters
    ----------
    verb : str
        ListRecords or ListIdentifiers.
    entries : Iterable[Markup]
        The records of the page, or their headers.
    page : Page
        The page. The last of several pages has an empty resumption token (OAI-PMH 2.0, section 3.5).
    """
    token = Markup("")
    if page.token or page.begin:
        about = {"completeListSize": str(page.size), "cursor": str(page.begin)}
        token = tag("oai:resumptionToken", about, page.token)
    return element(f"oai:{verb}", join_lines(*entries, token))
