"""The versions of VOTable: what a client may ask of a document beside its serialization.

* 1.4: COOSYS has the former names of frames and no reference position.
* 1.5: the default, unless the operator prefers another version.
* 1.6, a working draft (2026-04-13): ``char`` is UTF-8, so all texts of varying length are ``char``.

All have one XML namespace.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from clickhouse_schema.datatypes import CHAR, CoordinateSystem, Field
from clickhouse_schema.system_keys import FORMER_SYSTEMS
from tap_service.xml_text import DECLARATION, Markup, start_tag

NAMESPACE = "http://www.ivoa.net/xml/VOTable/v1.3"
VERSIONS = ("1.4", "1.5", "1.6")

_SYSTEMS_OF_1_4 = {"ICRS": "ICRS", "ecl_FK4": "ecl_FK4"} | {term: former for former, term in FORMER_SYSTEMS.items()}


@dataclass(frozen=True, slots=True)
class Dialect:
    """A version of VOTable; ``is_annotated``: with a MIVOT block."""

    version: str
    is_annotated: bool = False

    @property
    def opening(self) -> Markup:
        """The document's begin."""
        return Markup(DECLARATION + start_tag("VOTABLE", {"version": self.version, "xmlns": NAMESPACE}) + "\n")

    @property
    def has_utf8_char(self) -> bool:
        return self.version == "1.6"

    def convert_fields(self, fields: Sequence[Field]) -> tuple[Field, ...]:
        """Return the fields with the datatypes of this version.

        Texts of fixed length and arrays of strings keep theirs: UTF-8 would need another length.
        """
        if not self.has_utf8_char:
            return tuple(fields)
        return tuple(
            replace(field, type=replace(CHAR, xtype=field.type.xtype)) if _varies(field) else field for field in fields
        )

    def convert_coordinates(self, system: CoordinateSystem | None) -> CoordinateSystem | None:
        """Return the system in the words of this version; None if it has no word for the frame."""
        if system is None or self.version != "1.4":
            return system
        former = _SYSTEMS_OF_1_4.get(system.system)
        return replace(system, system=former, refposition="") if former else None


_default_version = "1.5"


def set_default_version(version: str) -> None:
    """Set the version of this process's documents that name none, of errors before any application too."""
    global _default_version
    _default_version = version


def choose_dialect(version: str = "", *, is_annotated: bool = False) -> Dialect:
    """Return the dialect of a version, by default that of documents that name none."""
    return Dialect(version or _default_version, is_annotated)


def _varies(field: Field) -> bool:
    kind = field.type
    return kind.datatype == "unicodeChar" and kind.arraysize.endswith("*") and not kind.string_length
