"""A user's watches, in JSON. TAP does not define these resources.

GET /tap/watches            the watches, their limits, and the user's mail address
POST /tap/watches           name, query or list with table and radius, webhook, mail: creates a watch; only this answer
                            contains the secret of the webhook's signatures
GET /tap/watches/{id}
POST /tap/watches/{id}      action: pause, resume, or run, which repeats failed runs
DELETE /tap/watches/{id}    deletes the watch; the table of its results stays
"""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

from tap_service.documents.watch_documents import describe_watch
from tap_service.handlers.content_negotiation import JSON
from tap_service.handlers.json_body import read_json_object, read_text
from tap_service.handlers.request_context import Origin, Skyhouse, User
from tap_service.handlers.route_description import Parameter, describe
from tap_service.handlers.turns import run_in_turn
from tap_service.service_errors import ParameterError
from tap_service.services.watches.position_lists import MAX_RADIUS
from tap_service.services.watches.watch_service import NewWatch

router = APIRouter(prefix="/watches")

_READ = ["GET", "HEAD"]
_NO_STORE = {"Cache-Control": "no-store"}
_MEMBERS = (
    Parameter("name", "Name of the watch, and of the table of its results in mydb"),
    Parameter("query", "ADQL query that reads the watched table"),
    Parameter("table", "The watched table: required with a list, and with a query that reads several tables"),
    Parameter("list", "Instead of a query: one of your tables, with positions"),
    Parameter("radius", "Maximum separation from a position of the list, in arcseconds", kind="number"),
    Parameter("webhook", "URL to which messages are posted"),
    Parameter("mail", "Whether messages are mailed to the address of your account", kind="boolean"),
)
_ACTION = (Parameter("action", "run repeats failed runs", ("pause", "resume", "run")),)
_NAMES = tuple(each.name for each in _MEMBERS)
#: maximum size of a request: a query and the other members
_MAX_BYTES = 200_000


@router.api_route("", methods=_READ, **describe("Your watches", JSON))
async def list_watches(skyhouse: Skyhouse, user: User) -> Response:
    found = await run_in_turn(skyhouse.watches.list_watches, user.name)
    mail = await run_in_turn(skyhouse.watches.find_mail, user.name)
    config = skyhouse.config
    limits = {"watches": config.user_watches, "rows": config.watch_rows, "days": config.watch_days}
    about = {"owner": user.name, "limits": limits, "mail": mail or None, "webhooks": config.webhooks}
    return JSONResponse({**about, "watches": [describe_watch(watch) for watch in found]}, headers=_NO_STORE)


@router.post("", **describe("Create a watch", JSON, status=201, members=_MEMBERS))
async def add_watch(request: Request, skyhouse: Skyhouse, user: User, origin: Origin) -> Response:
    new_watch = _read_request(await read_json_object(request, _NAMES, _MAX_BYTES))
    watch = await run_in_turn(skyhouse.watches.add_watch, user.name, new_watch)
    described = {**describe_watch(watch), "secret": watch.secret or None}
    location = f"{origin.base_url}/tap/watches/{watch.watch_id}"
    return JSONResponse(described, 201, headers={**_NO_STORE, "Location": location})


@router.api_route("/{watch_id}", methods=_READ, **describe("A watch", JSON))
async def show_watch(watch_id: str, skyhouse: Skyhouse, user: User) -> Response:
    watch = await run_in_turn(skyhouse.watches.get_watch, watch_id, user)
    return JSONResponse(describe_watch(watch), headers=_NO_STORE)


@router.post("/{watch_id}", **describe("Pause, resume or run a watch", JSON, members=_ACTION))
async def change_watch(watch_id: str, request: Request, skyhouse: Skyhouse, user: User) -> Response:
    watch = await run_in_turn(skyhouse.watches.get_watch, watch_id, user)
    action = read_text(await read_json_object(request, ("action",)), "action")
    if action == "run":
        watch = await run_in_turn(skyhouse.watches.run_again, watch)
    elif action in ("pause", "resume"):
        watch = await run_in_turn(skyhouse.watches.pause_watch, watch, is_paused=action == "pause")
    else:
        raise ParameterError("action must be pause, resume or run")
    return JSONResponse(describe_watch(watch), headers=_NO_STORE)


@router.delete("/{watch_id}", **describe("Delete a watch", status=204))
async def remove_watch(watch_id: str, skyhouse: Skyhouse, user: User) -> Response:
    watch = await run_in_turn(skyhouse.watches.get_watch, watch_id, user)
    await run_in_turn(skyhouse.watches.remove_watch, watch)
    return Response(status_code=204)


def _read_request(given: dict[str, Any]) -> NewWatch:
    radius, mail = given.get("radius", 0), given.get("mail", False)
    if isinstance(radius, bool) or not isinstance(radius, int | float) or not 0 <= radius <= MAX_RADIUS:
        raise ParameterError(f"radius must be a number of arcseconds from 0 to {MAX_RADIUS:g}")
    if not isinstance(mail, bool):
        raise ParameterError("mail must be true or false: whether messages are mailed to the address of your account")
    texts = {name: read_text(given, name).strip() for name in ("name", "query", "table", "list", "webhook")}
    if texts["query"] and texts["list"]:
        raise ParameterError("give query or list, not both")
    return NewWatch(texts["name"], texts["query"], texts["table"], texts["list"], float(radius), texts["webhook"], mail)
