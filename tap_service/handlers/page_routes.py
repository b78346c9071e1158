"""The examples, the landing page and the metrics."""

from __future__ import annotations

from fastapi import APIRouter, Depends
from fastapi.responses import HTMLResponse, Response
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.concurrency import run_in_threadpool

from tap_service.documents.examples_document import examples_document
from tap_service.handlers.landing_page import landing_page
from tap_service.handlers.request_context import Origin, Skyhouse, admit_caller

router = APIRouter()
#: the landing page at /, if the portal has not been built
door_router = APIRouter()
tap_router = APIRouter()

_READ = ["GET", "HEAD"]


@tap_router.api_route("/examples", methods=_READ, dependencies=[Depends(admit_caller)])
async def show_examples(skyhouse: Skyhouse) -> Response:
    snapshot = skyhouse.catalogue_cache.snapshot
    found = await run_in_threadpool(lambda: snapshot.examples)
    return Response(examples_document(found, f"{skyhouse.config.title}: examples"), media_type="application/xhtml+xml")


@door_router.api_route("/", methods=_READ)
@tap_router.api_route("", methods=_READ)
@tap_router.api_route("/", methods=_READ)
async def show_landing_page(skyhouse: Skyhouse, origin: Origin) -> HTMLResponse:
    tables = [entry.qualified_name for entry in skyhouse.catalogue_cache.catalogue.entries]
    return HTMLResponse(landing_page(skyhouse.config, f"{origin.base_url}/tap", tables))


@router.get("/metrics")
async def show_metrics(skyhouse: Skyhouse) -> Response:
    return Response(skyhouse.metrics.format_text(), media_type=CONTENT_TYPE_LATEST)
