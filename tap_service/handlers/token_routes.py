"""A user's own tokens, in JSON. TAP does not define these resources.

GET /tap/tokens            the tokens: id, label, expiry; never their values
POST /tap/tokens           label, days: creates a token; only this answer contains its value
DELETE /tap/tokens/{id}    revokes a token
"""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

from tap_service.handlers.content_negotiation import JSON
from tap_service.handlers.json_body import read_json_object, read_text
from tap_service.handlers.request_context import Skyhouse, User
from tap_service.handlers.route_description import Parameter, describe
from tap_service.handlers.turns import run_in_turn
from tap_service.service_errors import ParameterError
from tap_service.services.site.own_tokens import DEFAULT_DAYS, MAX_DAYS

router = APIRouter()

_NO_STORE = {"Cache-Control": "no-store"}
_MEMBERS = (Parameter("label", "Name of the token"), Parameter("days", "Lifetime in days", kind="number"))


@router.api_route("/tokens", methods=["GET", "HEAD"], **describe("Your tokens, without their values", JSON))
async def list_tokens(skyhouse: Skyhouse, user: User) -> Response:
    tokens = await run_in_turn(skyhouse.own_tokens.list_tokens, user)
    return JSONResponse({"owner": user.name, "tokens": tokens}, headers=_NO_STORE)


@router.post("/tokens", **describe("Create a token", JSON, status=201, members=_MEMBERS))
async def create_token(request: Request, skyhouse: Skyhouse, user: User) -> Response:
    given = await read_json_object(request, ("label", "days"))
    days = given.get("days", DEFAULT_DAYS)
    if isinstance(days, bool) or not isinstance(days, int | float) or not 0 < days <= MAX_DAYS:
        raise ParameterError(f"days, the lifetime of the token, must be a number above 0 and up to {MAX_DAYS}")
    label = read_text(given, "label", "token")
    # without days, the token expires with the credentials of this request
    made = await run_in_turn(skyhouse.own_tokens.create_token, user, label, days, is_capped="days" not in given)
    return JSONResponse(made, 201, headers=_NO_STORE)


@router.delete("/tokens/{token_id}", **describe("Revoke a token", status=204))
async def revoke_token(token_id: str, skyhouse: Skyhouse, user: User) -> Response:
    await run_in_turn(skyhouse.own_tokens.revoke_token, user, token_id)
    return Response(status_code=204)
