"""VOSI: availability, capabilities and tables; also in JSON."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from fastapi import APIRouter, Request
from fastapi.responses import Response

from clickhouse_schema.catalogue import TableEntry
from clickhouse_schema.engine_tables import user_table_record
from tap_service.constants import TABLE_EXPIRES_HEADER
from tap_service.documents.availability_document import availability_document
from tap_service.documents.capabilities_document import capabilities_document
from tap_service.documents.service_description import ServiceDescription
from tap_service.documents.service_json import (
    AvailabilityDocument,
    CapabilitiesDocument,
    describe_availability,
    describe_capabilities,
)
from tap_service.documents.tableset_document import table_document
from tap_service.documents.tableset_json import TableDocument, TablesetDocument, describe_table
from tap_service.factory.services import Services
from tap_service.handlers.content_negotiation import (
    JSON,
    XML,
    Representation,
    as_json,
    encode_json,
    send_preferred,
    xml,
)
from tap_service.handlers.request_context import IdentifiedUser, Origin, RequestClient, Skyhouse
from tap_service.handlers.request_form import read_query_values
from tap_service.handlers.route_description import Parameter, describe
from tap_service.handlers.turns import run_in_turn
from tap_service.models.client import Client
from tap_service.models.timestamps import format_instant
from tap_service.service_errors import NotFound, ParameterError
from tap_service.services.site.service_capabilities import describe_service

router = APIRouter()

_READ = ["GET", "HEAD"]
_DETAILS = ("min", "max")
_DETAIL = (Parameter("detail", "min: tables without columns; max: tables with their columns", _DETAILS),)


@router.api_route("/availability", methods=_READ, **describe("Availability of the service", XML, AvailabilityDocument))
async def show_availability(request: Request, skyhouse: Skyhouse) -> Response:
    """Return 200 even if the service is unavailable, as the document then states. Public, like /capabilities."""
    found = await skyhouse.availability.check_availability()
    return send_preferred(
        request, xml(lambda: availability_document(found)), as_json(lambda: describe_availability(found))
    )


@router.api_route("/capabilities", methods=_READ, **describe("Capabilities of the service", XML, CapabilitiesDocument))
async def show_capabilities(request: Request, skyhouse: Skyhouse, user: IdentifiedUser, origin: Origin) -> Response:
    name = user.name if user else None

    def send_capabilities() -> Response:
        catalogue = skyhouse.catalogue_cache.catalogue_for(name)
        described = describe_service(skyhouse.config, skyhouse.authenticator, catalogue, f"{origin.base_url}/tap")
        return send_preferred(
            request,
            xml(lambda: _write_capabilities(described)),
            Representation(JSON, lambda: _write_capabilities_json(described)),
            headers=cache_headers(name),
        )

    return await run_in_turn(send_capabilities)


@lru_cache(maxsize=8)
def _write_capabilities(described: ServiceDescription) -> bytes:
    return capabilities_document(described)


@lru_cache(maxsize=8)
def _write_capabilities_json(described: ServiceDescription) -> bytes:
    return encode_json(describe_capabilities(described))


@router.api_route("/tables", methods=_READ, **describe("The tables", XML, TablesetDocument, query=_DETAIL))
async def show_tables(request: Request, skyhouse: Skyhouse, client: RequestClient) -> Response:
    detail = read_query_values(request, ("DETAIL",)).get("DETAIL", "max").strip().lower()
    if detail not in _DETAILS:
        raise ParameterError("detail must be min (tables without columns) or max (tables with their columns)")
    is_full = detail == "max"

    def send_tables() -> Response:
        tables = skyhouse.catalogue_cache.snapshot_for(client.name)
        return send_preferred(
            request,
            xml(lambda: tables.tables_document if is_full else tables.tables_document_without_columns),
            Representation(JSON, lambda: tables.tables_json if is_full else tables.tables_json_without_columns),
            headers=cache_headers(client.name),
        )

    return await run_in_turn(send_tables)


@router.api_route("/tables/{name}", methods=_READ, **describe("A table", XML, TableDocument))
async def show_table(name: str, request: Request, skyhouse: Skyhouse, client: RequestClient) -> Response:
    def send_found() -> Response:
        entry = find_table(skyhouse, client, name)
        expiry = {} if client.name is None else expiry_header(skyhouse, client.name, entry)
        return send_table(request, entry, headers={**cache_headers(client.name), **expiry})

    return await run_in_turn(send_found)


def send_table(
    request: Request, entry: TableEntry, *, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """Send the description of a table, as VOSI XML or as JSON."""
    return send_preferred(
        request,
        xml(lambda: table_document(entry)),
        as_json(lambda: describe_table(entry)),
        status=status,
        headers=headers,
    )


def find_table(skyhouse: Services, client: Client, name: str) -> TableEntry:
    """Return a table that the client sees.

    Parameters
    ----------
    skyhouse : Services
        The services.
    client : Client
        The client.
    name : str
        The name of the table: ``schema.table``, as in ADQL.

    Raises
    ------
    NotFound
        The client sees no such table.
    """
    entry = skyhouse.catalogue_cache.snapshot_for(client.name).find_table(name)
    if entry is None:
        raise NotFound(f"there is no table {name[:200]!r}; /tap/tables?detail=min lists them, written schema.table")
    return entry


def expiry_header(skyhouse: Services, user: str, entry: TableEntry) -> dict[str, str]:
    """Return the header with the expiry of a user table; empty for other tables, and for tables that do not expire."""
    if entry.schema is not user_table_record.SCHEMA:
        return {}
    end = skyhouse.user_tables.list_expiries(user).get(entry.table.name)
    return {TABLE_EXPIRES_HEADER: format_instant(end)} if end else {}


def cache_headers(user: str | None) -> dict[str, str]:
    """Return headers that forbid shared caches to store answers for a user; None for an anonymous client."""
    return {"Cache-Control": "private, no-cache"} if user is not None else {}
