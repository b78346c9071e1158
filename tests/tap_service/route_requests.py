"""A request for each operation of the OpenAPI document, to test what must hold on every route."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx

#: of JSON-RPC
_INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "tests", "version": "1"},
    },
}


@dataclass(frozen=True, slots=True)
class RouteRequest:
    """The parameters of the query string, and one kind of body; ``{table}`` and ``{job_id}`` in them are replaced."""

    params: Mapping[str, str] = field(default_factory=dict)
    form: Mapping[str, str] | None = None
    json: Mapping[str, Any] | None = None
    text: str | None = None


_PLAIN = RouteRequest()
_QUERY = {"LANG": "ADQL", "FORMAT": "csv", "QUERY": "SELECT TOP 1 * FROM {table}"}
_CONE = {"RA": "10", "DEC": "20", "SR": "180", "MAXREC": "10000"}
_CSV = RouteRequest(text="a\n1\n")
#: of every operation, except operations without relevant parameters
_REQUESTS: dict[str, RouteRequest] = {
    "get /tap/sync": RouteRequest(_QUERY),
    "post /tap/sync": RouteRequest(form=_QUERY),
    "get /tap/estimate": RouteRequest(_QUERY),
    "post /tap/estimate": RouteRequest(form=_QUERY),
    "post /tap/async": RouteRequest(form=_QUERY),
    "post /tap/async/": RouteRequest(form=_QUERY),
    "post /tap/async/{job_id}": RouteRequest(form={"ACTION": "NONE"}),
    "post /tap/async/{job_id}/phase": RouteRequest(form={"PHASE": "RUN"}),
    "post /tap/async/{job_id}/executionduration": RouteRequest(form={"EXECUTIONDURATION": "10"}),
    "post /tap/async/{job_id}/destruction": RouteRequest(form={"DESTRUCTION": "2100-01-01T00:00:00Z"}),
    "post /tap/async/{job_id}/name": RouteRequest(form={"NAME": "a name"}),
    "post /tap/async/{job_id}/note": RouteRequest(form={"NOTE": "a note"}),
    "post /tap/async/{job_id}/parameters": RouteRequest(form=_QUERY),
    "post /tap/async/{job_id}/table": RouteRequest(form={"TABLE": "mydb.made"}),
    "get /tap/history": RouteRequest({"LAST": "10"}),
    "post /tap/shares": RouteRequest(form={"JOB": "{job_id}"}),
    "get /tap/admin/shares": RouteRequest({"LAST": "10"}),
    "post /tap/watches": RouteRequest(json={"name": "a", "query": "SELECT * FROM {table}"}),
    "post /tap/watches/{watch_id}": RouteRequest(json={"action": "pause"}),
    "put /tap/tables/{name}": _CSV,
    "post /tap/tables/{name}": _CSV,
    "post /tap/load/{name}": _CSV,
    "post /tap/table-update": RouteRequest(form={"TABLE": "mydb.mine", "INDEX": "a"}),
    "post /tap/mydb/{name}/grants": RouteRequest(json={"user": "bob"}),
    "delete /tap/mydb/{name}/grants": RouteRequest({"user": "bob"}),
    "get /tap/tables/{name}/density": RouteRequest({"order": "29"}),
    "get /tap/names": RouteRequest({"prefix": "a"}),
    "get /tap/datalink/links": RouteRequest({"ID": "ivo://example.org/light?00000001"}),
    "post /tap/datalink/links": RouteRequest(form={"ID": "ivo://example.org/light?00000001"}),
    "post /tap/tokens": RouteRequest(json={"label": "a"}),
    "post /tap/admin/drain": RouteRequest(json={"note": "a"}),
    "post /tap/admin/downtimes": RouteRequest(
        json={"from": "2100-01-01T00:00:00Z", "to": "2100-01-02T00:00:00Z", "note": "a"}
    ),
    "post /tap/admin/notes": RouteRequest(json={"text": "a"}),
    "get /scs/{table}": RouteRequest(_CONE),
    "post /scs/{table}": RouteRequest(form=_CONE),
    "post /mcp": RouteRequest(json=_INITIALIZE),
    "get /oai": RouteRequest({"verb": "ListRecords", "metadataPrefix": "ivo_vor"}),
    "post /oai": RouteRequest(form={"verb": "ListRecords", "metadataPrefix": "ivo_vor"}),
}


#: operations whose parameters may be omitted
_OPTIONAL = {
    "get /tap/async",
    "get /tap/async/",
    "get /tap/async/{job_id}",
    "get /tap/tables",
    "get /hats/{table}/{path}",
    "get /tap/admin/jobs",
    "delete /tap/shares/{share_id}",
}
#: default values of path parameters, if the caller does not give an existing object
_NOTHING = dict.fromkeys(("share_id", "watch_id", "token_id", "work_id", "downtime_id", "note_id"), "none")
_NOTHING["path"] = "collection.properties"


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation of the document, and the request to send. ``route`` is for example ``get /tap/tables``."""

    route: str
    method: str
    path: str
    has_body: bool
    request: RouteRequest

    def build(self, client: httpx.Client, **options: Any) -> httpx.Request:
        """Return the request; ``options`` are more arguments of httpx."""
        asked = self.request
        content = {"content": asked.text, "headers": {"Content-Type": "text/csv"}} if asked.text is not None else {}
        arguments = {"params": asked.params, "data": asked.form, "json": asked.json, **content, **options}
        headers = {"Accept": "application/json, */*;q=0.5", **arguments.pop("headers", {})}
        return client.build_request(self.method, self.path, headers=headers, **arguments)


def list_operations(document: dict[str, Any], names: Mapping[str, str]) -> Iterator[Operation]:
    """Yield all operations of an OpenAPI document, with ``path_values`` for the parameters of their paths.

    A route with a new path parameter, or with a body or other parameters but no request here, is an error: the author
    of a route must add its request.
    """
    names = {**_NOTHING, **names}
    for path, methods in document["paths"].items():
        for method, described in methods.items():
            route, has_body = f"{method} {path}", "requestBody" in described
            request = _REQUESTS.get(route, _PLAIN)
            has_parameters = any(each["in"] == "query" for each in described.get("parameters", ()))
            assert route in _REQUESTS or not (has_body or has_parameters) or route in _OPTIONAL, (
                f"{route} has no request"
            )
            yield Operation(route, method.upper(), path.format_map(names), has_body, _fill(request, names))


def _fill(request: RouteRequest, names: Mapping[str, str]) -> RouteRequest:
    def fill(given: Mapping[str, Any] | None) -> dict[str, Any] | None:
        if given is None:
            return None
        return {
            name: each.replace("{table}", names["table"]).replace("{job_id}", names["job_id"])
            if isinstance(each, str)
            else each
            for name, each in given.items()
        }

    return RouteRequest(fill(request.params) or {}, fill(request.form), fill(request.json), request.text)
