"""Write VOTable LINK elements, and service descriptors: RESOURCEs after the results (DataLink 1.1, section 4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from clickhouse_schema.column_links import InputParam, Link, PlacedLink, PlacedService
from clickhouse_schema.datatypes import CHAR, ColumnType, Field
from tap_service.serializers.serializer import distinct_names
from tap_service.serializers.votable_dialect import drop_unread_limit
from tap_service.xml_text import Markup, element, join_lines, optional_element, start_tag, tag


def links_by_index(links: Iterable[PlacedLink], ids: Sequence[str]) -> dict[int, Markup]:
    """Return the LINKs of each FIELD that has any, by the index of the field."""
    found: dict[int, Markup] = {}
    for placed in links:
        names = {name: ids[index] for name, index in placed.columns.items()}
        found[placed.index] = Markup(found.get(placed.index, "") + _write_link(placed.link, names))
    return found


def _write_link(link: Link, names: Mapping[str, str]) -> Markup:
    attributes = {
        "content-role": link.content_role,
        "content-type": link.content_type,
        "title": link.title,
        "value": link.value,
        "href": link.rename_href_columns(names),
    }
    return tag("LINK", attributes)


def service_resources(services: Sequence[PlacedService], fields: Sequence[Field], ids: Sequence[str]) -> Markup:
    """Write a RESOURCE for each service; a service of two joined copies of a table gets two names."""
    names = distinct_names([placed.service.name for placed in services])
    resources = (_write_resource(name, placed, fields, ids) for name, placed in zip(names, services, strict=True))
    return Markup("".join(f"{resource}\n" for resource in resources))


def _write_resource(name: str, placed: PlacedService, fields: Sequence[Field], ids: Sequence[str]) -> Markup:
    service = placed.service
    params = {
        "standardID": service.standard_id,
        "resourceIdentifier": service.resource_identifier,
        "accessURL": service.access_url,
        "contentType": service.content_type,
        "exampleURL": service.example_url,
    }
    inputs = []
    for param in service.input_params:
        if param.ref:
            index = placed.columns[param.ref]
            inputs.append(_column_param(param, fields[index], ids[index]))
        else:
            inputs.append(_user_param(param))
    parts = join_lines(
        optional_element("DESCRIPTION", service.description.strip()),
        *(_write_param(key, CHAR, value) for key, value in params.items() if value),
        element("GROUP", join_lines(*inputs), name="inputParams"),
    )
    return element("RESOURCE", parts, ID=placed.ident, type="meta", utype="adhoc:service", name=name)


def _column_param(param: InputParam, field: Field, ident: str) -> Markup:
    about = {"unit": field.unit, "ucd": field.ucd, "ref": ident}
    return _write_param(param.name, field.type, "", about, optional_element("DESCRIPTION", param.description))


def _user_param(param: InputParam) -> Markup:
    """Write a constant or an input of the user."""
    limits = (("MIN", param.min), ("MAX", param.max))
    values = [element(name, value=str(limit)) for name, limit in limits if limit is not None]
    values += [element("OPTION", value=option) for option in param.options]
    about = {"unit": param.unit, "ucd": param.ucd, "utype": param.utype}
    description = optional_element("DESCRIPTION", param.description)
    domain = element("VALUES", *values) if values else ""
    return _write_param(param.name, param.type, param.value, about, description, domain)


def _write_param(
    name: str, kind: ColumnType, value: str, about: Mapping[str, str] | None = None, *children: str
) -> Markup:
    """Write a PARAM. An empty ``value`` is written too, because the user or a row supplies it."""
    kind = drop_unread_limit(kind)
    attributes = {"name": name, "datatype": kind.datatype, "arraysize": kind.arraysize, "xtype": kind.xtype}
    attributes = {key: text for key, text in (attributes | dict(about or {})).items() if text}
    start, inside = start_tag("PARAM", attributes | {"value": value}), "".join(children)
    return Markup(f"{start}{inside}</PARAM>" if inside else f"{start[:-1]}/>")
