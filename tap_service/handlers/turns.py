"""Turns between clients for the work of handlers on threads, so that no client occupies all threads."""

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

#: seconds after which a disconnect of the client cancels a read; an earlier check costs more than it saves
_UNWATCHED_SECONDS = 0.2


async def run_in_turn(call: Callable[_P, _T], *arguments: _P.args, **named: _P.kwargs) -> _T:
    """Make a call that reads the engine, the catalogue or a store, on a thread, when it is the client's turn.

    Parameters
    ----------
    call : Callable
        The call; it gets the other arguments.

    Returns
    -------
    Any
        The result of the call.

    Raises
    ------
    TooManyQueries, ServiceBusy
        Too many requests are waiting.
    ClientGone
        The client of a GET disconnected before its turn.
    """
    return await run_in_turn_of(Lane.READING, partial(call, *arguments, **named))


async def run_in_turn_of(lane: Lane, call: Callable[[], _T]) -> _T:
    """Do as ``run_in_turn`` in another lane: FETCHING for what may wait for another host."""
    scope, receive = current_request.get()
    queries = scope["app"].state.services.queries
    reading = asyncio.ensure_future(queries.run_reading(call, find_client(scope), lane))
    try:
        await asyncio.wait({reading}, timeout=_UNWATCHED_SECONDS)
        if reading.done() or scope["method"] not in ("GET", "HEAD"):  # the body of other requests may be unread
            result: _T = await reading
            return result
        gone = asyncio.create_task(wait_for_disconnect(receive))
        try:
            return await run_unless_gone(gone, reading)
        finally:
            gone.cancel()
    finally:
        reading.cancel()
