"""The documents that say what the service is: availability, capabilities, tables."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter, Depends
from fastapi.responses import Response
from starlette.concurrency import run_in_threadpool

from tap_service.documents.availability import availability_document
from tap_service.documents.capabilities import capabilities_document
from tap_service.documents.tables import table_document
from tap_service.exceptions import NotFound
from tap_service.handlers.context import Asker, Skyhouse, caller_of
from tap_service.services.description import describe_service

router = APIRouter()

_XML = "application/xml"
_READ = ["GET", "HEAD"]
#: availability and capabilities are for everybody: they tell how to identify oneself
_FOR_CALLERS = [Depends(caller_of)]


@router.api_route("/availability", methods=_READ)
async def availability(skyhouse: Skyhouse) -> Response:
    """200 also when the service is out of order: this document is about that."""
    return Response(availability_document(await skyhouse.availability.availability()), media_type=_XML)


@router.api_route("/capabilities", methods=_READ)
async def capabilities(skyhouse: Skyhouse, asker: Asker) -> Response:
    catalogue = skyhouse.metadata.catalogue
    described = describe_service(skyhouse.config, skyhouse.identities, catalogue, f"{asker.base_url}/tap")
    return Response(capabilities_document(described), media_type=_XML)


@router.api_route("/tables", methods=_READ, dependencies=_FOR_CALLERS)
async def tables(skyhouse: Skyhouse, detail: Literal["min", "max"] = "max") -> Response:
    snapshot = skyhouse.metadata.snapshot
    document = await run_in_threadpool(lambda: snapshot.tables if detail == "max" else snapshot.tables_without_columns)
    return Response(document, media_type=_XML)


@router.api_route("/tables/{name}", methods=_READ, dependencies=_FOR_CALLERS)
async def table(name: str, skyhouse: Skyhouse) -> Response:
    entry = skyhouse.metadata.snapshot.find(name)
    if entry is None:
        raise NotFound(f"there is no table {name[:200]!r}; /tap/tables?detail=min lists them, written schema.table")
    return Response(table_document(entry), media_type=_XML)
