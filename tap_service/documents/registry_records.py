"""Records of the registry: VOResource 1.1, VODataService 1.2, VORegistry 1.1, TAPRegExt 1.0, SimpleDALRegExt 1.2,
and Dublin Core.

Relations between the service and its collections follow the IVOA note "Discovering Data Collections Within Services".
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import quote

from clickhouse_schema.catalogue import TableEntry
from clickhouse_schema.schema_model import Schema
from tap_service.documents.capabilities_document import CAPABILITY_NAMESPACES, capability_elements
from tap_service.documents.cone_search_document import NAMESPACE, cone_search_elements
from tap_service.documents.service_description import ConeSearch, ServiceDescription
from tap_service.documents.tableset_document import schema_elements
from tap_service.models.registry_metadata import REGISTRY_KEY, Collection, Details, RegistryMetadata, Rights, is_bibcode
from tap_service.models.registry_record import RecordDraft
from tap_service.xml_text import Markup, element, join_lines, optional_element, tag

RESOURCE_NAMESPACE = "http://www.ivoa.net/xml/RegistryInterface/v1.0"
DUBLIN_CORE_NAMESPACE = "http://www.openarchives.org/OAI/2.0/oai_dc/"
DUBLIN_CORE_SCHEMA = "http://www.openarchives.org/OAI/2.0/oai_dc.xsd"

_NAMESPACES = {
    "xmlns:ri": RESOURCE_NAMESPACE,
    "xmlns:vg": "http://www.ivoa.net/xml/VORegistry/v1.0",
    **CAPABILITY_NAMESPACES,
    **NAMESPACE,
}
_XSI = CAPABILITY_NAMESPACES["xmlns:xsi"]
#: each namespace of the IVOA is also the URL of its schema
_SCHEMAS = " ".join(f"{address} {address}" for address in _NAMESPACES.values() if address != _XSI)
_DUBLIN_CORE = {
    "xmlns:oai_dc": DUBLIN_CORE_NAMESPACE,
    "xmlns:dc": "http://purl.org/dc/elements/1.1/",
    "xmlns:xsi": _XSI,
    "xsi:schemaLocation": f"{DUBLIN_CORE_NAMESPACE} {DUBLIN_CORE_SCHEMA}",
}

_AUXILIARY_TAP = "ivo://ivoa.net/std/TAP#aux"

_NOTHING = Markup("")


#: (type of the relation, ((title, identifier) of each related resource, ...))
Relationship = tuple[str, tuple[tuple[str, str], ...]]


@dataclass(frozen=True, slots=True)
class Coverage:
    """The coverage of data on the sky and in time.

    Attributes
    ----------
    moc : str
        A MOC in ASCII, '' if unknown.
    temporal : (float, float) or None
        The first and the last MJD; None if unknown.
    """

    moc: str = ""
    temporal: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class _About:
    """The content that all records have."""

    identifier: str
    title: str
    description: str
    kind: str
    details: Details
    short_name: str = ""
    source: str = ""
    relationships: tuple[Relationship, ...] = ()
    rights: Rights | None = None


class RegistryRecords:
    """Writes the records of one service.

    Parameters
    ----------
    metadata : RegistryMetadata
        The contents of the operator's file.
    service : ServiceDescription
        The service as /capabilities describes it; its title and description are used if the file has none.
    harvest_url : str
        The URL of /oai.
    page_records : int
        The maximum number of records in one answer.
    """

    def __init__(
        self, metadata: RegistryMetadata, service: ServiceDescription, harvest_url: str, page_records: int
    ) -> None:
        self._metadata = metadata
        self._service = service
        self._harvest_url = harvest_url
        self._page_records = page_records
        self._service_id = metadata.make_identifier(metadata.service.id)
        self._service_title = metadata.service.title or service.title

    def draft_registry(self) -> RecordDraft:
        """Draft the record of the registry itself."""
        metadata = self._metadata
        interface = tag(
            "interface",
            {"xsi:type": "vg:OAIHTTP", "role": "std", "version": "1.0"},
            element("accessURL", self._harvest_url, use="base"),
        )
        harvest = tag(
            "capability",
            {"xsi:type": "vg:Harvest", "standardID": "ivo://ivoa.net/std/Registry"},
            join_lines(interface, element("maxRecords", str(self._page_records))),
        )
        about = _About(
            metadata.make_identifier(REGISTRY_KEY),
            f"{metadata.publisher}: publishing registry",
            f"The publishing registry of {metadata.publisher}. It contains the records of the service "
            f"{self._service_title} and of its data.",
            "Registry",
            Details(subjects=("virtual-observatories",)),
        )
        own = (harvest, element("full", "false"), element("managedAuthority", metadata.authority))
        return self._draft("vg:Registry", about, own)

    def draft_authority(self) -> RecordDraft:
        """Draft the record of the naming authority."""
        metadata = self._metadata
        about = _About(
            metadata.make_identifier(),
            f"{metadata.publisher}: naming authority",
            f"{metadata.publisher} assigns the identifiers that start with {metadata.make_identifier()}.",
            "Other",
            Details(subjects=("virtual-observatories",)),
        )
        return self._draft("vg:Authority", about, (self._publisher_element("managingOrg"),))

    def draft_service(
        self, entries: Iterable[TableEntry], coverage: Coverage, collections: Iterable[Collection]
    ) -> RecordDraft:
        """Draft the record of the TAP service.

        Parameters
        ----------
        entries : Iterable[TableEntry]
            The tables; tables of one schema are adjacent.
        coverage : Coverage
            The coverage of all tables.
        collections : Iterable[Collection]
            The collections that have separate records, to which the record refers.
        """
        own = self._metadata.service
        collection_names = tuple(
            (collection.title, self._metadata.make_identifier(collection.id)) for collection in collections
        )
        about = _About(
            self._service_id,
            self._service_title,
            own.description or self._service.description or self._service_title,
            "Archive",
            own,
            own.short_name or "",
            own.source or self._metadata.source or "",
            (("IsServiceFor", collection_names),) if collection_names else (),
            own.rights or self._metadata.rights,
        )
        content = (
            _rights_element(about.rights),
            capability_elements(self._service),
            self._coverage_element(own, coverage),
            _tableset_element(entries),
        )
        return self._draft("vs:CatalogService", about, content)

    def draft_collection(
        self, collection: Collection, schema: Schema, entries: Iterable[TableEntry], coverage: Coverage
    ) -> RecordDraft:
        """Draft the record of a data collection.

        Parameters
        ----------
        collection : Collection
            The collection as the operator's file describes it.
        schema : Schema
            The schema of its tables, whose description, citation and licence are used if the file has none.
        entries : Iterable[TableEntry]
            The tables of the collection.
        coverage : Coverage
            Their coverage.
        """
        about = _About(
            self._metadata.make_identifier(collection.id),
            collection.title,
            collection.description or schema.description or collection.title,
            "Catalog",
            collection,
            collection.short_name or "",
            collection.source or _find_source(schema),
            (("IsServedBy", ((self._service_title, self._service_id),)),),
            collection.rights or (None if schema.licence else self._metadata.rights),
        )
        interface = tag(
            "interface",
            {"xsi:type": "vs:ParamHTTP", "role": "std"},
            element("accessURL", self._service.base_url, use="base"),
        )
        content = (
            _rights_element(about.rights) or optional_element("rights", schema.licence),
            element("capability", interface, standardID=_AUXILIARY_TAP),
            self._coverage_element(collection, coverage),
            _tableset_element(entries),
        )
        return self._draft("vs:CatalogResource", about, content)

    def draft_cone_search(
        self, entry: TableEntry, cone: ConeSearch, coverage: Coverage, collection: Collection | None
    ) -> RecordDraft:
        """Draft the record of a table's cone search.

        Parameters
        ----------
        entry : TableEntry
            The table.
        cone : ConeSearch
            The cone search.
        coverage : Coverage
            The coverage of the table.
        collection : Collection or None
            The collection of the table, whose details the record takes over; None if the table belongs to none.
        """
        schema, details = entry.schema, collection or Details()
        about = _About(
            self._metadata.make_identifier(f"scs/{_make_key(entry.qualified_name)}"),
            f"{cone.table}: cone search",
            entry.table.description or schema.description or cone.table,
            "Catalog",
            details,
            source=details.source or _find_source(schema),
            relationships=self._relate_to(collection),
            rights=details.rights or (None if schema.licence else self._metadata.rights),
        )
        content = (
            _rights_element(about.rights) or optional_element("rights", schema.licence),
            cone_search_elements(cone, self._service),
            self._coverage_element(details, coverage),
            _tableset_element([entry]),
        )
        return self._draft("vs:CatalogService", about, content)

    def _relate_to(self, collection: Collection | None) -> tuple[Relationship, ...]:
        if collection is None:
            return ()
        return (("IsServiceFor", ((collection.title, self._metadata.make_identifier(collection.id)),)),)

    # --- parts of all records

    def _draft(self, kind: str, about: _About, own: tuple[Markup, ...]) -> RecordDraft:
        metadata, details = self._metadata, about.details
        content = join_lines(
            element("title", about.title),
            optional_element("shortName", about.short_name),
            element("identifier", about.identifier),
            self._curation_element(details),
            element("content", self._content_lines(about)),
            *own,
        )
        created = f"{details.created or metadata.created}T00:00:00Z"

        def write(changed: str) -> Markup:
            dates = {"created": created, "updated": changed, "status": "active"}
            attributes = {**_NAMESPACES, "xsi:schemaLocation": _SCHEMAS, "xsi:type": kind, **dates}
            return tag("ri:Resource", attributes, content)

        return RecordDraft(about.identifier, about.title, write, self._dublin_core(about))

    def _curation_element(self, details: Details) -> Markup:
        contact = self._metadata.contact
        return element(
            "curation",
            join_lines(
                self._publisher_element("publisher"),
                *(element("creator", element("name", name)) for name in details.creators or self._metadata.creators),
                element("date", details.created or self._metadata.created, role="Created"),
                element(
                    "contact",
                    join_lines(
                        element("name", contact.name),
                        optional_element("address", contact.address or ""),
                        element("email", contact.email),
                        optional_element("telephone", contact.telephone or ""),
                    ),
                ),
            ),
        )

    def _publisher_element(self, name: str) -> Markup:
        return tag(name, {"ivo-id": self._metadata.publisher_id or ""}, self._metadata.publisher)

    def _content_lines(self, about: _About) -> Markup:
        details, metadata = about.details, self._metadata
        return join_lines(
            *(element("subject", term) for term in details.subjects or metadata.subjects),
            element("description", about.description),
            element("source", about.source, format="bibcode") if about.source else "",
            element("referenceURL", details.reference_url or metadata.reference_url),
            element("type", about.kind),
            *(element("contentLevel", level) for level in details.content_levels or metadata.content_levels),
            *(_relationship_element(word, others) for word, others in about.relationships),
        )

    def _coverage_element(self, details: Details, coverage: Coverage) -> Markup:
        parts = (
            optional_element("spatial", coverage.moc),
            element("temporal", " ".join(f"{day:.2f}" for day in coverage.temporal)) if coverage.temporal else _NOTHING,
            *(element("waveband", name) for name in details.wavebands or self._metadata.wavebands),
        )
        return element("coverage", join_lines(*parts)) if any(parts) else _NOTHING

    def _dublin_core(self, about: _About) -> Markup:
        details, metadata = about.details, self._metadata
        return tag(
            "oai_dc:dc",
            _DUBLIN_CORE,
            join_lines(
                element("dc:title", about.title),
                *(element("dc:creator", name) for name in details.creators or metadata.creators),
                *(element("dc:subject", term) for term in details.subjects or metadata.subjects),
                element("dc:description", about.description),
                element("dc:publisher", metadata.publisher),
                element("dc:date", details.created or metadata.created),
                element("dc:type", about.kind),
                element("dc:identifier", about.identifier),
                element("dc:identifier", details.reference_url or metadata.reference_url),
                *(element("dc:relation", ident) for _, others in about.relationships for _, ident in others),
                element("dc:rights", about.rights.uri) if about.rights else "",
            ),
        )


def _find_source(schema: Schema) -> str:
    return schema.citation if is_bibcode(schema.citation) else ""


def _make_key(name: str) -> str:
    """Return a table's name in the characters of identifiers; other bytes become ``=`` and hexadecimal digits."""
    return quote(name, safe="").replace("%", "=")


def _rights_element(rights: Rights | None) -> Markup:
    return element("rights", rights.text or rights.uri, rightsURI=rights.uri) if rights else _NOTHING


def _relationship_element(word: str, others: tuple[tuple[str, str], ...]) -> Markup:
    related = (tag("relatedResource", {"ivo-id": identifier}, title) for title, identifier in others)
    return element("relationship", join_lines(element("relationshipType", word), *related))


def _tableset_element(entries: Iterable[TableEntry]) -> Markup:
    schemas = tuple(schema_elements(entries))
    return element("tableset", join_lines(*schemas)) if schemas else _NOTHING
