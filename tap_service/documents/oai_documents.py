"""The answers of OAI-PMH 2.0: the envelope, the six verbs and the errors.

The IVOA's profile (Registry Interfaces 1.1, section 3): the registry's own record is in the answer to Identify, and all
records of the publisher are in the set ivo_managed. Elements within records have no namespace, so OAI's is no default.
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

#: prefix -> address of the schema, namespace
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
    """A part of a list.

    Attributes
    ----------
    begin
        How many records of the list came before.
    size
        Records of the whole list.
    token
        Asks for the rest; empty on the last page.
    """

    records: tuple[RegistryRecord, ...]
    begin: int
    size: int
    token: str


def oai_document(url: str, arguments: Mapping[str, str], answered: int, content: Markup) -> bytes:
    """Return an answer.

    Parameters
    ----------
    url
        The address of /oai.
    arguments
        Those of the request, the verb too; none if they were wrong.
    answered
        Unix time.
    content
        The element of the verb, or of an error.
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
    return element("oai:error", message, code=code)


def identify_element(name: str, url: str, mail: str, earliest: int, registry: RegistryRecord) -> Markup:
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
    about = (element("oai:setSpec", MANAGED_SET), element("oai:setName", "Records of this publisher"))
    return element("oai:ListSets", element("oai:set", *about))


def found_element(record: RegistryRecord, prefix: str) -> Markup:
    """Return the answer to GetRecord."""
    return element("oai:GetRecord", record_element(record, prefix))


def record_element(record: RegistryRecord, prefix: str) -> Markup:
    """Return a record in the format of this prefix; of a deleted one the header alone."""
    header = header_element(record)
    if record.is_deleted:
        return element("oai:record", header)
    content = record.resource if prefix == RESOURCE_PREFIX else record.dublin_core
    return element("oai:record", join_lines(header, element("oai:metadata", content)))


def header_element(record: RegistryRecord) -> Markup:
    children = (
        element("oai:identifier", record.identifier),
        element("oai:datestamp", format_second(record.changed)),
        element("oai:setSpec", MANAGED_SET),
    )
    return element("oai:header", *children, status="deleted" if record.is_deleted else "")


def list_element(verb: str, entries: Iterable[Markup], page: Page) -> Markup:
    """Return a page of a list. The last one of several has an empty token, as the standard wants it."""
    token = Markup("")
    if page.token or page.begin:
        about = {"completeListSize": str(page.size), "cursor": str(page.begin)}
        token = tag("oai:resumptionToken", about, page.token)
    return element(f"oai:{verb}", join_lines(*entries, token))
