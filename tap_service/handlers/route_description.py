"""Descriptions of routes for the OpenAPI document, written where each route is declared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tap_service.handlers.content_negotiation import JSON
from tap_service.models.json_document import JsonDocument

FORM, MULTIPART, ANY = "application/x-www-form-urlencoded", "multipart/form-data", "*/*"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of the query string or of a form, or a member of a JSON object.

    Attributes
    ----------
    name, description : str
        The name, and a phrase for readers of the document.
    values : tuple of str
        The allowed values, () for any value.
    kind : str
        A type of JSON Schema.
    is_repeatable : bool
        Whether a request may contain the parameter several times.
    example : Any
        An example value, None for no example.
    schema : dict
        The JSON Schema of the parameter, built from the other attributes.
    """

    name: str
    description: str
    values: tuple[str, ...] = ()
    kind: str = "string"
    is_repeatable: bool = False
    example: Any = None
    schema: dict[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        one: dict[str, Any] = {"type": self.kind, **({"enum": list(self.values)} if self.values else {})}
        schema = {"type": "array", "items": one} if self.is_repeatable else one
        about = {"description": self.description, **({"examples": [self.example]} if self.example is not None else {})}
        object.__setattr__(self, "schema", {**schema, **about})


def describe(
    summary: str,
    *answers: str | type[JsonDocument],
    status: int = 200,
    also: Mapping[int, str] | None = None,
    query: Iterable[Parameter] = (),
    form: Iterable[Parameter] = (),
    body: Iterable[str] = (),
    members: Iterable[Parameter] = (),
) -> dict[str, Any]:
    """Return the arguments with which FastAPI declares a route.

    Parameters
    ----------
    summary : str
        What the resource is, or what the method does. The docstring of the handler becomes the long description.
    answers : str or type[JsonDocument]
        The media types of a successful answer. The class of a document stands for JSON with its schema.
    status : int
        The status of a successful answer.
    also : Mapping[int, str], optional
        The meaning of other answers that are not errors, by status.
    query, form : Iterable[Parameter]
        Parameters of the query string, or of a form. Clients may send parameters of a form in the query string too.
        A route with GET and POST takes ``query``.
    body : Iterable[str]
        The media types of a body that is a file.
    members : Iterable[Parameter]
        The members of a body that is a JSON object.

    Returns
    -------
    dict
        Keyword arguments for ``APIRouter.api_route`` and for the decorators of single methods.
    """
    model = next((each for each in answers if not isinstance(each, str)), None)
    content: dict[str, Any] = {each: {} for each in answers if isinstance(each, str)}
    answer: dict[str, Any] = {"description": summary, **({"content": content} if content else {})}
    if model is not None:
        answer["model"] = model
    others: dict[int | str, Any] = {other: {"description": meaning} for other, meaning in (also or {}).items()}
    extra: dict[str, Any] = {"parameters": [_describe_query_parameter(each) for each in query]}
    if form := tuple(form):
        extra["requestBody"] = describe_form({each.name: each.schema for each in form})
    elif members := tuple(members):
        properties = {each.name: each.schema for each in members}
        schema = {"type": "object", "properties": properties, "additionalProperties": False}
        extra["requestBody"] = {"required": True, "content": {JSON: {"schema": schema}}}
    elif body := tuple(body):
        extra["requestBody"] = {"required": True, "content": {kind: {} for kind in body}}
    return {
        "summary": summary,
        "status_code": status,
        "responses": {status: answer, **others},
        "openapi_extra": extra,
    }


def describe_form(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Describe the body of a request that is a form.

    Parameters
    ----------
    properties : Mapping[str, Any]
        The JSON Schema of each parameter, by name.

    Returns
    -------
    dict
        An OpenAPI request body, for both encodings of forms.
    """
    schema = {"type": "object", "properties": dict(properties)}
    return {"content": {kind: {"schema": schema} for kind in (FORM, MULTIPART)}}


def _describe_query_parameter(parameter: Parameter) -> dict[str, Any]:
    schema = {name: value for name, value in parameter.schema.items() if name != "description"}
    return {"name": parameter.name, "in": "query", "description": parameter.description, "schema": schema}
