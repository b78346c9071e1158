"""Records of the publishing registry."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tap_service.xml_text import Markup


@dataclass(frozen=True, slots=True)
class RecordDraft:
    """What a record should say now.

    Attributes
    ----------
    title
        The resource's.
    write_resource
        Writes the ri:Resource, given the instant of its last change.
    dublin_core
        The same as oai_dc:dc.
    """

    identifier: str
    title: str
    write_resource: Callable[[str], Markup]
    dublin_core: Markup


@dataclass(frozen=True, slots=True)
class RegistryRecord:
    """A record as it is published.

    Attributes
    ----------
    changed
        Unix time of the last change, in whole seconds.
    resource, dublin_core
        XML; empty if the record is deleted, or was read without them.
    """

    identifier: str
    changed: int
    is_deleted: bool
    resource: Markup
    dublin_core: Markup
