"""/tap/sync: one query, whose result is streamed while the engine computes it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from fastapi import APIRouter, Request
from fastapi.responses import Response
from starlette.types import Message, Receive, Scope, Send

from tap_service.constants import RESULT_ROWS_HEADER, ROW_LIMIT_HEADER, STATUS_HEADER
from tap_service.handlers.client_disconnect import run_unless_gone, wait_for_disconnect
from tap_service.handlers.request_context import Caller, Origin, Skyhouse
from tap_service.handlers.request_form import Form, read_request_form
from tap_service.service_errors import ClientGone, UserFault
from tap_service.services.queries.sync_query import SyncAnswer
from tap_service.services.queries.tap_parameters import read_tap_parameters

router = APIRouter()

_log = logging.getLogger("skyhouse")


@router.api_route("/sync", methods=["GET", "POST"])
async def answer_sync(request: Request, skyhouse: Skyhouse, caller: Caller, origin: Origin) -> Response:
    form = Form()
    try:
        try:
            form = await read_request_form(request, skyhouse)
            parameters = read_tap_parameters(form.pairs, skyhouse.config.max_query_length, form.files)
        except UserFault as error:
            skyhouse.queries.record_refusal(error, origin.client)
            raise
        gone = asyncio.create_task(wait_for_disconnect(request.receive))
        answer = await skyhouse.queries.start_query(parameters, origin.client, caller.name if caller else None)
    finally:
        form.close()
    try:
        await run_unless_gone(gone, answer.wait_first_bytes())
    except BaseException:
        gone.cancel()
        answer.close()
        raise
    return ResultResponse(answer, gone)


class ResultResponse(Response):
    """A streamed result in HTTP chunks. An incomplete result lacks the last chunk, so that clients notice."""

    def __init__(self, answer: SyncAnswer, gone: asyncio.Task[None]) -> None:
        self.status_code = 200
        self.background = None
        self._answer = answer
        self._gone = gone
        headers = {
            "Content-Type": answer.format.content_type,
            "Content-Disposition": f'inline; filename="result.{answer.format.extension}"',
            "Cache-Control": "no-store",
            ROW_LIMIT_HEADER: str(answer.execution.limit),
        }
        if (rows := answer.execution.row_limit.rows) is not None:
            headers[RESULT_ROWS_HEADER] = str(rows)
        if answer.status:
            headers[STATUS_HEADER] = answer.status
        self.init_headers(headers)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002 (ASGI)
        try:
            await run_unless_gone(self._gone, self._send_pieces(send))
        except ClientGone:
            _log.debug("a client disconnected")
        finally:
            self._gone.cancel()
            self._answer.close()

    async def _send_pieces(self, send: Callable[[Message], Awaitable[None]]) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        async for piece in self._answer.read_pieces():
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        if self._answer.is_complete:
            await send({"type": "http.response.body", "body": b"", "more_body": False})
