"""The methods that a path allows: those of all routes that match it."""

from __future__ import annotations

from fastapi import FastAPI
from starlette.routing import Match, Route


def list_allowed_methods(app: FastAPI, path: str) -> list[str]:
    """Return the methods in order; none if there is nothing at the path. (The framework lists those of one route.)"""
    found: set[str] = set()
    for prefix, router in app.state.routers:
        if not path.startswith(prefix):
            continue
        scope = {"type": "http", "method": "", "path": path.removeprefix(prefix)}
        for route in router.routes:
            if isinstance(route, Route) and route.matches(scope)[0] is not Match.NONE:
                found |= route.methods or set()
    return sorted(found)
