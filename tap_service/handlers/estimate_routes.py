"""Help with writing queries, in JSON: estimates, errors with positions, densities of tables, and kept matches.

TAP does not define these resources.

GET|POST /tap/estimate             the parameters of /sync
GET /tap/tables/{name}/density     order
GET /tap/matches
"""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import numpy as np
from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response
from numpy.typing import NDArray

from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.datatypes import Field
from clickhouse_schema.kept_match import MatchSide, read_sides
from clickhouse_schema.reserved_words import name_to_adql
from clickhouse_schema.tap_schema import table_name_to_adql
from tap_service.config import Config
from tap_service.handlers.client_disconnect import run_unless_gone, wait_for_disconnect
from tap_service.handlers.content_negotiation import JSON, encode_json
from tap_service.handlers.described_parameters import QUERY_PARAMETERS
from tap_service.handlers.error_responses import problem_response
from tap_service.handlers.protocol_paths import HATS
from tap_service.handlers.request_context import Origin, RequestClient, Skyhouse
from tap_service.handlers.request_form import Form, read_query_values, read_request_form
from tap_service.handlers.route_description import Parameter, describe
from tap_service.handlers.turns import run_in_turn
from tap_service.handlers.vosi_routes import cache_headers, find_table
from tap_service.models.query_errors import QueryError
from tap_service.models.work_class import WorkClass
from tap_service.service_errors import ParameterError, UserError
from tap_service.services.hats.hats_files import is_served
from tap_service.services.queries.query_estimate import QueryEstimate
from tap_service.services.queries.row_limit import RowLimit
from tap_service.services.queries.tap_parameters import read_tap_parameters
from tap_service.services.translation.query_errors import list_query_errors

router = APIRouter()

_NO_STORE = {"Cache-Control": "no-store"}
#: cells finer than a map on a screen shows
_DEFAULT_ORDER = 6
_MAX_ORDER = 29
#: maximum number of density documents in the cache
_MAX_DENSITIES = 8
_ORDER = (Parameter("order", "Maximum HEALPix order of the cells", kind="integer", example=_DEFAULT_ORDER),)


@router.api_route(
    "/estimate",
    methods=["GET", "HEAD", "POST"],
    **describe("Check a query and estimate its cost", JSON, query=QUERY_PARAMETERS),
)
async def estimate_query(request: Request, skyhouse: Skyhouse, client: RequestClient) -> Response:
    form = Form()
    try:
        form = await read_request_form(request, skyhouse)
        parameters = read_tap_parameters(form.pairs, skyhouse.config.max_query_length, form.files)
        gone = asyncio.create_task(wait_for_disconnect(request.receive))
        try:
            found = await run_unless_gone(gone, skyhouse.queries.estimate_query(parameters, client))
        finally:
            gone.cancel()
    except UserError as error:
        if error.status != UserError.status:
            raise
        errors = list_query_errors(error) or (QueryError(message=str(error)),)
        return problem_response(error.status, str(error), errors, _NO_STORE)
    finally:
        form.close()
    return JSONResponse(estimate_as_json(found, skyhouse.config), headers=_NO_STORE)


def estimate_as_json(found: QueryEstimate, config: Config) -> dict[str, Any]:
    """Return the JSON of an estimate, with the row limits of the service in ``config``."""
    cost = found.estimate
    return {
        "rows": cost and cost.rows,
        "bytes": cost and cost.bytes,
        "seconds": cost and round(cost.seconds, 3),
        "kind": cost and cost.kind,
        "workClass": cost and WorkClass.from_seconds(cost.seconds),
        "plan": found.plan,
        "maxrec": {
            "default": config.default_maxrec,
            "hard": config.hard_maxrec,
            "asyncHard": config.async_hard_maxrec,
        },
        "result": _result_as_json(found.row_limit),
        "syncSeconds": config.sync_seconds,
        "fields": [_field_as_json(field) for field in found.fields],
        "tables": found.tables,
        "warnings": found.warnings,
    }


def _result_as_json(limit: RowLimit) -> dict[str, Any]:
    """Return the estimated rows of the result and the effect of the row limit."""
    rows, sample = limit.rows, limit.sample
    return {
        "rows": rows and rows.rows,
        "precision": rows and rows.precision,
        "limit": limit.limit,
        "order": limit.order,
        "warning": limit.warning,
        "sample": sample and {"start": sample.at, "end": sample.at, "text": sample.text},
    }


def _field_as_json(field: Field) -> dict[str, str]:
    return {
        "name": field.name,
        "datatype": field.type.datatype,
        "arraysize": field.type.arraysize,
        "xtype": field.type.xtype,
        "unit": field.unit,
        "ucd": field.ucd,
        "description": field.description,
    }


@router.api_route(
    "/tables/{name}/density",
    methods=["GET", "HEAD"],
    **describe("Row counts of a table by HEALPix cell", JSON, query=_ORDER),
)
async def show_density(
    name: str, request: Request, skyhouse: Skyhouse, client: RequestClient, origin: Origin
) -> Response:
    max_order = _read_order(read_query_values(request, ("ORDER",)).get("ORDER", ""))

    def write_density() -> bytes:
        entry = find_table(skyhouse, client, name)
        stored_order, rows = skyhouse.preparation.read_density(entry)
        if entry.table.layout.position is None:
            return encode_json({"order": None, "rows": int(rows.sum())})
        has_files = skyhouse.hats is not None and is_served(entry)
        files = f"{origin.base_url}{HATS}/{quote(entry.qualified_name)}" if has_files else None
        return _densities.write_document(rows, stored_order, min(stored_order, max_order), files)

    headers = {"Cache-Control": "no-cache", **cache_headers(client.name)}
    return Response(await run_in_turn(write_density), headers=headers, media_type=JSON)


@router.api_route("/matches", methods=["GET", "HEAD"], **describe("The kept matches", JSON))
async def list_kept_matches(skyhouse: Skyhouse, client: RequestClient) -> Response:
    def write_matches() -> bytes:
        catalogue = skyhouse.catalogue_cache.snapshot_for(client.name).catalogue
        return encode_json({"matches": [*_list_matches(catalogue)]})

    return Response(await run_in_turn(write_matches), headers=cache_headers(client.name), media_type=JSON)


def _list_matches(catalogue: Catalogue) -> Iterator[dict[str, Any]]:
    """Yield each kept match of two tables that are both in the catalogue."""
    for entry in catalogue.entries:
        match, sides = entry.table.match, read_sides(catalogue.schemas, entry.table)
        if match is not None and sides is not None:
            yield {
                "table": table_name_to_adql(entry),
                "left": _side_as_json(sides[0]),
                "right": _side_as_json(sides[1]),
                "kind": match.kind,
                "radius": match.radius,
                "isCurrent": entry.qualified_name in catalogue.current_matches,
            }


def _side_as_json(side: MatchSide) -> dict[str, Any]:
    """Return one of the two tables, the names of its id columns in the match and in the table, and its epoch.

    The epoch is null if no proper motion is applied.
    """
    return {
        "table": ".".join(map(name_to_adql, (side.schema.name, side.table.name))),
        "ids": [
            {"column": name_to_adql(of_match), "refersTo": name_to_adql(of_table)}
            for of_match, of_table in zip(side.key.columns, side.key.referenced_columns, strict=True)
        ],
        "epoch": None if side.epoch == "" else side.epoch,
    }


class _DensityDocuments:
    """A cache of the documents that were requested last: writing many cells is slow and holds the GIL."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[int, int, str | None], tuple[NDArray[np.int64], bytes]] = OrderedDict()
        self._lock = threading.Lock()

    def write_document(self, rows: NDArray[np.int64], stored_order: int, order: int, files: str | None) -> bytes:
        """Return the document of the rows by cell of ``stored_order``, an array that is never changed."""
        key = id(rows), order, files  # the cache keeps the array, so no other object has its id
        with self._lock:
            if key not in self._kept:
                self._kept[key] = rows, _write_density(rows, stored_order, order, files)
            self._kept.move_to_end(key)
            while len(self._kept) > _MAX_DENSITIES:
                self._kept.popitem(last=False)
            return self._kept[key][1]


_densities = _DensityDocuments()


def _write_density(rows: NDArray[np.int64], stored_order: int, order: int, files: str | None) -> bytes:
    counts = rows[:-1].reshape(-1, 4 ** (stored_order - order)).sum(axis=1)
    cells = np.flatnonzero(counts)
    return encode_json(
        {
            "order": order,
            "rows": int(rows.sum()),
            "withoutPosition": int(rows[-1]),
            "cells": cells.tolist(),
            "counts": counts[cells].tolist(),
            "hats": files,
        }
    )


def _read_order(text: str) -> int:
    if not text:
        return _DEFAULT_ORDER
    if not (text.isascii() and text.isdigit() and len(text) <= 2 and int(text) <= _MAX_ORDER):
        raise ParameterError(f"order must be an integer from 0 to {_MAX_ORDER}: the maximum HEALPix order of the cells")
    return int(text)
