"""Records of the publishing registry."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tap_service.xml_text import Markup


@dataclass(frozen=True, slots=True)
class RecordDraft:
    """A record as it should be published, before its last change is known.

    Attributes
    ----------
    identifier : str
        The IVOA identifier.
    title : str
        The title of the resource.
    write_resource : Callable[[str], Markup]
        Returns the ri:Resource, given the instant of its last change.
    dublin_core : Markup
        The same content as oai_dc:dc.
    """

    identifier: str
    title: str
    write_resource: Callable[[str], Markup]
    dublin_core: Markup


@dataclass(frozen=True, slots=True)
class RegistryRecord:
    """A published record.

    Attributes
    ----------
    identifier : str
        The IVOA identifier.
    changed : int
        The Unix time of the last change, in seconds.
    is_deleted : bool
        Whether the record is deleted; harvesters then get its header only.
    resource, dublin_core : Markup
        The record in both formats; empty if the record is deleted, or was read without them.
    """

    identifier: str
    changed: int
    is_deleted: bool
    resource: Markup
    dublin_core: Markup
