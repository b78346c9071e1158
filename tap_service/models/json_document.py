"""The base of all JSON documents, whose members have the names of the XML elements."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, PlainSerializer, WithJsonSchema
from pydantic.alias_generators import to_camel

from tap_service.models.timestamps import format_instant

#: in UTC, as in 2026-01-31T12:00:00.000Z
Instant = Annotated[
    datetime,
    PlainSerializer(format_instant, return_type=str),
    WithJsonSchema({"type": "string", "format": "date-time"}),
]


class JsonDocument(BaseModel):
    """A document or a part of a document; the OpenAPI document contains the JSON schema of the class."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True)

    def to_json(self) -> dict[str, Any]:
        """Return the document as a JSON object."""
        return self.model_dump(by_alias=True)
