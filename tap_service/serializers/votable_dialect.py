"""The versions of VOTable, which a client may request in addition to a serialization.

* 1.4: the default, unless the operator prefers another. COOSYS has the former names of frames, no reference position.
* 1.5: COOSYS has all frames of the vocabulary and the reference position. Some clients refuse it.
* 1.6, a working draft (2026-04-13): ``char`` is UTF-8, so all texts of varying length are ``char``.

All have the same XML namespace.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from clickhouse_schema.datatypes import CHAR, TEXT, ColumnType, CoordinateSystem, Field
from clickhouse_schema.system_keys import FORMER_SYSTEMS
from tap_service.xml_text import DECLARATION, Markup, start_tag

NAMESPACE = "http://www.ivoa.net/xml/VOTable/v1.3"
VERSIONS = ("1.4", "1.5", "1.6")

_SYSTEMS_OF_1_4 = {"ICRS": "ICRS", "ecl_FK4": "ecl_FK4"} | {term: former for former, term in FORMER_SYSTEMS.items()}


@dataclass(frozen=True, slots=True)
class Dialect:
    """A form of VOTable.

    Attributes
    ----------
    version : str
        The version of the standard.
    is_annotated : bool
        Whether the document has a MIVOT block.
    """

    version: str
    is_annotated: bool = False

    @property
    def opening(self) -> Markup:
        """The start of the document."""
        return Markup(DECLARATION + start_tag("VOTABLE", {"version": self.version, "xmlns": NAMESPACE}) + "\n")

    @property
    def has_utf8_char(self) -> bool:
        return self.version == "1.6"

    def convert_fields(self, fields: Sequence[Field], *, is_binary: bool) -> tuple[Field, ...]:
        """Return the fields with the types that this version declares, in a binary serialization or in TABLEDATA."""
        kinds = [self._convert_type(field.type, is_binary) for field in fields]
        return tuple(
            field if field.type is kind else replace(field, type=kind)
            for field, kind in zip(fields, kinds, strict=True)
        )

    def _convert_type(self, kind: ColumnType, is_binary: bool) -> ColumnType:
        """Return the type that is declared.

        Texts of fixed length and arrays of strings keep their datatype: their length in UTF-8 differs.
        """
        if self.has_utf8_char and kind.datatype == "unicodeChar" and _is_variable_text(kind):
            return replace(CHAR, xtype=kind.xtype)
        return drop_unread_limit(kind, is_binary=is_binary)

    def convert_coordinates(self, system: CoordinateSystem | None) -> CoordinateSystem | None:
        """Return the system in the terms of this version; None if it has no term for the frame."""
        if system is None or self.version != "1.4":
            return system
        former = _SYSTEMS_OF_1_4.get(system.system)
        return replace(system, system=former, refposition="") if former else None

    def list_omissions(self, fields: Iterable[Field]) -> list[str]:
        """Return a sentence for each coordinate system that this version cannot express."""
        omitted: dict[CoordinateSystem, list[str]] = {}
        for field in fields:
            system = field.coordinate_system
            if system is not None and self.convert_coordinates(system) is None:
                omitted.setdefault(system, []).append(field.name)
        return [
            f"VOTable {self.version} cannot express the coordinate system of {', '.join(names)} "
            f"({_describe_system(system)}): request RESPONSEFORMAT=votable;version={COMPLETE.version}"
            for system, names in omitted.items()
        ]


#: The version that omits no coordinate system, for VOTables inside other files, whose readers accept any version.
COMPLETE = Dialect("1.5")

_default_version = "1.4"


def set_default_version(version: str) -> None:
    """Set the default version of this process, which error documents also have. Call it before the first request.

    Parameters
    ----------
    version : str
        A version of VOTable that ``choose_dialect`` knows, such as ``1.4``.
    """
    global _default_version
    _default_version = version


def choose_dialect(version: str = "", *, is_annotated: bool = False) -> Dialect:
    """Return the dialect of a document.

    Parameters
    ----------
    version : str
        The version of VOTable; '' is the default version of the process.
    is_annotated : bool
        Whether the document has a MIVOT block.
    """
    return Dialect(version or _default_version, is_annotated)


@lru_cache(1024)  # a document asks for the types of its columns and parameters
def drop_unread_limit(kind: ColumnType, *, is_binary: bool = False) -> ColumnType:
    """Return the type of a text, without its maximum length where astropy before 7.1 cannot read that.

    Such an astropy reads ``n*`` in BINARY and BINARY2 as ``n``, and refuses documents with it in a ``unicodeChar``.
    """
    return (
        replace(kind, arraysize="*")
        if _is_variable_text(kind) and (is_binary or kind.datatype == "unicodeChar")
        else kind
    )


def _is_variable_text(kind: ColumnType) -> bool:
    """Return whether the type is one text of varying length."""
    return kind.datatype in TEXT and kind.arraysize.endswith("*") and not kind.string_length


def _describe_system(system: CoordinateSystem) -> str:
    known = {"epoch": system.epoch, "equinox": system.equinox, "reference position": system.refposition}
    return ", ".join([system.system, *(f"{name} {value}" for name, value in known.items() if value)])
