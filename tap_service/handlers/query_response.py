"""The response to a synchronous query: sent complete if it is short, otherwise streamed while the engine works."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from fastapi import Request
from fastapi.responses import Response
from starlette.types import Message, Receive, Scope, Send

from tap_service.constants import RESULT_ROWS_HEADER, ROW_LIMIT_HEADER, STATUS_HEADER
from tap_service.handlers.client_disconnect import run_unless_gone, wait_for_disconnect
from tap_service.service_errors import ClientGone
from tap_service.services.queries.sync_answer import SyncAnswer

_log = logging.getLogger("skyhouse")


async def send_answer(request: Request, answer: SyncAnswer) -> Response:
    """Return the response to a query as soon as its first bytes are available.

    Parameters
    ----------
    request : Request
        The request, whose body has been read.
    answer : SyncAnswer
        The started query. It is closed when the response ends, or by an error.

    Returns
    -------
    Response
        The complete result if it is short, otherwise a stream.

    Raises
    ------
    ServiceError
        The error of the query.
    ClientGone
        The client disconnected.
    """
    request.state.answer = answer
    gone: asyncio.Task[None] | None = None
    try:
        if not await answer.wait_briefly():
            gone = asyncio.create_task(wait_for_disconnect(request.receive))
            await run_unless_gone(gone, answer.wait_for_first_bytes())
        document = answer.take_whole()
    except BaseException:
        if gone is not None:
            gone.cancel()
        answer.close()
        raise
    if document is None:
        return ResultResponse(answer, gone or asyncio.create_task(wait_for_disconnect(request.receive)))
    if gone is not None:
        gone.cancel()
    answer.close()
    return Response(document, headers=_build_headers(answer))


def _build_headers(answer: SyncAnswer) -> dict[str, str]:
    """Return the headers of a result whose query has been prepared."""
    output_format = answer.request.parameters.format
    headers = {
        "Content-Type": output_format.content_type,
        "Content-Disposition": f'inline; filename="result.{output_format.extension}"',
        "Cache-Control": "no-store",
    }
    if answer.run is not None:
        limit = answer.run.query.row_limit
        headers[ROW_LIMIT_HEADER] = str(limit.limit)
        if limit.rows is not None:
            headers[RESULT_ROWS_HEADER] = str(limit.rows)
    if answer.report.status:
        headers[STATUS_HEADER] = answer.report.status
    return headers


class ResultResponse(Response):
    """A result streamed in HTTP chunks. The last chunk is missing from an incomplete result, so that clients notice."""

    def __init__(self, answer: SyncAnswer, gone: asyncio.Task[None]) -> None:
        self.status_code = 200
        self.background = None
        self._answer = answer
        self._gone = gone
        self.init_headers(_build_headers(answer))

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
