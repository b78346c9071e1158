"""Turns between clients for what handlers do on threads: no client's requests keep the threads from others'."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import ParamSpec, TypeVar

from tap_service.handlers.client_disconnect import run_unless_gone, wait_for_disconnect
from tap_service.handlers.request_context import current_request, find_client
from tap_service.models.engine_share import Lane

_P = ParamSpec("_P")
_T = TypeVar("_T")

#: after how many seconds a read is watched, to be forgotten if its client has gone: sooner costs more than it saves
_UNWATCHED_SECONDS = 0.2


async def run_in_turn(call: Callable[_P, _T], *arguments: _P.args, **named: _P.kwargs) -> _T:
    """Run a call that reads the engine, the catalogue or a store on a thread, when it is the client's turn.

    Raises
    ------
    TooManyQueries, ServiceBusy
        Too many requests wait.
    ClientGone
        The client of a GET has disconnected, and the call is not made.
    """
    return await run_in_turn_of(Lane.READING, partial(call, *arguments, **named))


async def run_in_turn_of(lane: Lane, call: Callable[[], _T]) -> _T:
    """Do as ``run_in_turn`` in another lane: FETCHING for what may wait for another host."""
    scope, receive = current_request.get()
    queries = scope["app"].state.services.queries
    reading = asyncio.ensure_future(queries.run_reading(call, find_client(scope), lane))
    try:
        await asyncio.wait({reading}, timeout=_UNWATCHED_SECONDS)
        if reading.done() or scope["method"] not in ("GET", "HEAD"):  # the body of others may not have been read
            result: _T = await reading
            return result
        gone = asyncio.create_task(wait_for_disconnect(receive))
        try:
            return await run_unless_gone(gone, reading)
        finally:
            gone.cancel()
    finally:
        reading.cancel()
