"""Turns between clients for what handlers do on threads: no client's requests keep the threads from others'."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from functools import partial
from typing import ParamSpec, TypeVar

from starlette.types import Scope

from tap_service.models.identity import Identity

_P = ParamSpec("_P")
_T = TypeVar("_T")

#: the request that is being handled
_request: ContextVar[Scope] = ContextVar("request")


def begin_request(scope: Scope) -> None:
    """Remember for ``run_in_turn`` whose request this task handles; its origin is known."""
    _request.set(scope)


async def run_in_turn(call: Callable[_P, _T], *arguments: _P.args, **named: _P.kwargs) -> _T:
    """Run a call that reads the engine, the catalogue or a store on a thread, when it is the client's turn.

    Raises
    ------
    TooManyQueries, ServiceBusy
        Too many requests wait.
    """
    scope = _request.get()
    visitor = scope["state"].get("visitor")
    owner = visitor.name if isinstance(visitor, Identity) else None
    queries = scope["app"].state.services.queries
    result: _T = await queries.run_reading(partial(call, *arguments, **named), scope["state"]["origin"].client, owner)
    return result
