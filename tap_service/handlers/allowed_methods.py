"""The methods that a path allows."""

from __future__ import annotations

from fastapi import FastAPI
from starlette.routing import Match, Route


def list_allowed_methods(app: FastAPI, path: str) -> list[str]:
    """Return the methods of all routes that match a path. The framework itself lists the methods of one route only.

    Parameters
    ----------
    app : FastAPI
        The application.
    path : str
        The path of a request.

    Returns
    -------
    list of str
        The methods in alphabetical order, empty if no route matches.
    """
    found: set[str] = set()
    for prefix, router in app.state.routers:
        if not path.startswith(prefix):
            continue
        scope = {"type": "http", "method": "", "path": path.removeprefix(prefix)}
        for route in router.routes:
            if isinstance(route, Route) and route.matches(scope)[0] is not Match.NONE:
                found |= route.methods or set()
    return sorted(found)
