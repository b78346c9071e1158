"""Work for a client that may go away meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from starlette.types import Receive

from tap_service.service_errors import ClientGone

_T = TypeVar("_T")


async def wait_for_disconnect(receive: Receive) -> None:
    """Returns when the client has gone. The request's body has been read before."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def run_unless_gone(gone: asyncio.Task[None], work: Awaitable[_T]) -> _T:
    """Do ``work``, unless the client goes away before: then ClientGone."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise ClientGone("the client went away")
        return task.result()
    finally:
        task.cancel()
