"""A user's watches, in JSON. TAP does not define these resources.

GET /tap/watches            the watches, limits, and the address for mails
POST /tap/watches           name, query or list with table and radius, webhook, mail: makes a watch; the answer has the
                            secret of the webhook's signatures once
GET /tap/watches/{id}
POST /tap/watches/{id}      action: pause, resume, or run, which tries again what has failed
DELETE /tap/watches/{id}    removes it; the table of its results stays
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
from tap_service.services.watches.watch_service import WatchRequest

router = APIRouter(prefix="/watches")

_READ = ["GET", "HEAD"]
_NO_STORE = {"Cache-Control": "no-store"}
_MEMBERS = (
    Parameter("name", "The name of the watch, and of the table of its results in mydb"),
    Parameter("query", "ADQL that reads the table to watch"),
    Parameter("table", "The table to watch: needed with a list, and if the query reads several"),
    Parameter("list", "Instead of a query, a table of yours with positions"),
    Parameter("radius", "How near to a position of the list, in arcseconds", kind="number"),
    Parameter("webhook", "An address to which messages are posted"),
    Parameter("mail", "Whether mails go to the address of your account", kind="boolean"),
)
_ACTION = (Parameter("action", "run tries again what has failed", ("pause", "resume", "run")),)
_NAMES = tuple(each.name for each in _MEMBERS)
#: a query and what else a watch has
_MAX_BYTES = 200_000


@router.api_route("", methods=_READ, **describe("Your watches", JSON))
async def list_watches(skyhouse: Skyhouse, user: User) -> Response:
    found = await run_in_turn(skyhouse.watches.list_watches, user.name)
    mail = await run_in_turn(skyhouse.watches.find_mail, user.name)
    config = skyhouse.config
    limits = {"watches": config.user_watches, "rows": config.watch_rows, "days": config.watch_days}
    about = {"owner": user.name, "limits": limits, "mail": mail or None, "webhooks": config.webhooks}
    return JSONResponse({**about, "watches": [describe_watch(watch) for watch in found]}, headers=_NO_STORE)


@router.post("", **describe("Make a watch", JSON, status=201, members=_MEMBERS))
async def add_watch(request: Request, skyhouse: Skyhouse, user: User, origin: Origin) -> Response:
    watch_request = _read_request(await read_json_object(request, _NAMES, _MAX_BYTES))
    watch = await run_in_turn(skyhouse.watches.add_watch, user.name, watch_request)
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
        raise ParameterError("action is pause, resume or run")
    return JSONResponse(describe_watch(watch), headers=_NO_STORE)


@router.delete("/{watch_id}", **describe("Remove a watch", status=204))
async def remove_watch(watch_id: str, skyhouse: Skyhouse, user: User) -> Response:
    watch = await run_in_turn(skyhouse.watches.get_watch, watch_id, user)
    await run_in_turn(skyhouse.watches.remove_watch, watch)
    return Response(status_code=204)


def _read_request(given: dict[str, Any]) -> WatchRequest:
    radius, mail = given.get("radius", 0), given.get("mail", False)
    if isinstance(radius, bool) or not isinstance(radius, int | float) or not 0 <= radius <= MAX_RADIUS:
        raise ParameterError(f"radius is a number up to {MAX_RADIUS:g}, in arcseconds")
    if not isinstance(mail, bool):
        raise ParameterError("mail is true or false: whether messages go to the address of your account")
    texts = {name: read_text(given, name).strip() for name in ("name", "query", "table", "list", "webhook")}
    if texts["query"] and texts["list"]:
        raise ParameterError("give query or list, not both: what the watch looks for")
    return WatchRequest(
        texts["name"], texts["query"], texts["table"], texts["list"], float(radius), texts["webhook"], mail
    )
