"""Reader of the LINKs and service descriptors of a VOTable, as keys of a schema file.

Service descriptors follow the rows, so it reads the complete document, but keeps no data.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar
from xml.etree.ElementTree import Element, TreeBuilder

from pydantic import ValidationError

from clickhouse_schema.column_links import InputParam, Link, Service
from clickhouse_schema.datatypes import INTEGERS, Field
from clickhouse_schema.strict_model import StrictModel
from clickhouse_schema.ucd_words import find_ucd_problem
from clickhouse_schema.vounit import normalise_unit
from tap_service.readers.file_columns import field_to_felis
from tap_service.readers.votable_tables import parse_outside_data
from tap_service.readers.votable_xml_reader import parse_votable_field

Keys = dict[str, Any]
_Item = TypeVar("_Item")
_Model = TypeVar("_Model", bound=StrictModel)


@dataclass(frozen=True, slots=True)
class DeclaredLinks:
    """The links of a document. ``columns``: the LINKs of each column that has any."""

    columns: dict[str, list[Keys]]
    services: list[Keys]


def read_declared_links(path: Path, number: int, columns: Sequence[Field | None]) -> DeclaredLinks:
    """Read the LINKs and service descriptors of a VOTable.

    Links that a schema file cannot contain are omitted: references to unknown columns, and URLs without http or https.

    Parameters
    ----------
    path : Path
        The document.
    number : int
        The number of the TABLE in it, from 1.
    columns : sequence of Field or None
        The columns of the TABLE in the order of its FIELDs, under their new names; None for unusable ones.

    Returns
    -------
    DeclaredLinks
        The LINKs by column, and the services.

    Raises
    ------
    ReadError
        The document is not well-formed XML.
    """
    document = _parse_without_data(path)
    elements = next(islice(document.iter("TABLE"), number - 1, None)).iterfind("FIELD")
    usable = [(element, field) for element, field in zip(elements, columns, strict=True) if field is not None]
    names: dict[str, str] = {}
    for key in (_read_name, lambda element: element.get("ID", "")):  # the first of equal names is used; IDs differ
        names |= {key(element): field.name for element, field in reversed(usable)}
    single = {field.name for _, field in usable if not field.type.is_array}
    scalars = {key: name for key, name in names.items() if name in single}
    links = {
        field.name: _drop_unknown(_read_link(link, scalars) for link in element.iterfind("LINK"))
        for element, field in usable
    }
    resources = [e for e in document.iter("RESOURCE") if e.get("utype") == "adhoc:service"]
    services: dict[str, Keys] = {}
    for service in _drop_unknown(_read_service(element, names) for element in resources):
        services.setdefault(service["name"].lower(), service)
    return DeclaredLinks({name: found for name, found in links.items() if found}, [*services.values()])


def _parse_without_data(path: Path) -> Element:
    """Parse the document with empty DATA elements."""
    builder = TreeBuilder()
    parse_outside_data(path, builder.start, builder.end, builder.data)
    return builder.close()


def _read_name(element: Element) -> str:
    return element.get("name", "").strip() or element.get("ID", "")


def _drop_unknown(found: Iterable[_Item | None]) -> list[_Item]:
    return [one for one in found if one is not None]


def _read_link(element: Element, names: Mapping[str, str]) -> Keys | None:
    """Read a LINK; None if a schema file cannot contain it. ``names``: column names by ID and name."""
    keys = {key: element.get(key, "") for key in ("href", "content-role", "content-type", "title", "value")}
    link = _validate_model(Link, {key: value for key, value in keys.items() if value})
    if link is None or not names.keys() >= set(link.columns):
        return None
    return _model_to_keys(link) | {"href": link.rename_href_columns(names)}


def _read_service(element: Element, names: Mapping[str, str]) -> Keys | None:
    params = {param.get("name", ""): param.get("value", "") for param in element.iterfind("PARAM")}
    about = ("standardID", "resourceIdentifier", "accessURL", "contentType", "exampleURL")
    inputs = [_read_input(param, names) for param in element.iterfind("GROUP[@name='inputParams']/PARAM")]
    keys = {
        "name": element.get("name", element.get("ID", "service")),
        "description": _read_description(element),
        **{key: params.get(key) for key in about},
        "inputParams": tuple(_drop_unknown(inputs)),
    }
    service = _validate_model(Service, {key: value for key, value in keys.items() if value})
    return None if service is None or None in inputs else _model_to_keys(service)


def _read_input(element: Element, names: Mapping[str, str]) -> InputParam | None:
    about = {"name": _read_name(element), "description": _read_description(element)}
    ref, value = element.get("ref", ""), element.get("value", "")
    if ref and ref not in names:
        return None
    keys: Keys = about | {"ref": names.get(ref, ""), "value": "" if ref else value}
    if not ref and not value:
        field = parse_votable_field(dict(element.items()) | about)
        if field.unusable:
            return None
        unit, ucd = normalise_unit(field.field.unit) or "", field.field.ucd
        known = replace(field.field, unit=unit, ucd="" if ucd and find_ucd_problem(ucd) else ucd)
        keys = field_to_felis(known) | _read_values(element, known)
    return _validate_model(InputParam, keys)


def _read_values(element: Element, field: Field) -> Keys:
    """Read the MIN and MAX of numbers, or the OPTIONs of texts."""
    if field.type.is_text:
        options = tuple(option.get("value", "") for option in element.iterfind("VALUES/OPTION"))
        return {"options": options} if options else {}
    limits = {key: element.find(f"VALUES/{key.upper()}") for key in ("min", "max")}
    whole = field.type.datatype in INTEGERS
    return {key: _parse_number(limit.get("value", ""), whole) for key, limit in limits.items() if limit is not None}


def _parse_number(text: str, whole: bool) -> int | float | None:
    try:
        return int(text) if whole else float(text)
    except ValueError:
        return None


def _read_description(element: Element) -> str:
    return " ".join(element.findtext("DESCRIPTION", "").split())


def _validate_model(model: type[_Model], keys: Keys) -> _Model | None:
    try:
        return model.model_validate(keys)
    except ValidationError:
        return None


def _model_to_keys(model: StrictModel) -> Keys:
    return model.model_dump(mode="json", by_alias=True, exclude_defaults=True)
