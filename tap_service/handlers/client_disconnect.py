"""Cancel work when its client disconnects."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from starlette.types import Receive

from tap_service.service_errors import ClientGone

_T = TypeVar("_T")


async def wait_for_disconnect(receive: Receive) -> None:
    """Wait until the client disconnects. The body of the request must have been read.

    Parameters
    ----------
    receive : Receive
        The ASGI channel of the request.
    """
    while (await receive())["type"] != "http.disconnect":
        pass


async def run_unless_gone(gone: asyncio.Task[None], work: Awaitable[_T]) -> _T:
    """Await ``work``, and cancel it if the client disconnects first.

    Parameters
    ----------
    gone : asyncio.Task
        Ends when the client disconnects: a task of ``wait_for_disconnect``.
    work : Awaitable
        The work.

    Returns
    -------
    Any
        The result of ``work``.

    Raises
    ------
    ClientGone
        The client disconnected; ``work`` is cancelled.
    """
    task = asyncio.ensure_future(work)
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise ClientGone("the client disconnected")
        return task.result()
    finally:
        task.cancel()
