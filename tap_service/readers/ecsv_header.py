"""The YAML header of ECSV (astropy APE 6), which astropy also writes into Parquet files (``table_meta_yaml``)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

from clickhouse_schema.datatypes import ColumnType, Field
from tap_service.readers.read_error import ReadError
from tap_service.readers.votable_xml_reader import find_column_type

#: limit of arrays in schema files
_MAX_AXES = 5

#: ECSV datatype -> VOTable datatype
_DATATYPES = {
    "bool": "boolean",
    "int8": "short",
    "uint8": "unsignedByte",
    "int16": "short",
    "uint16": "int",
    "int32": "int",
    "uint32": "long",
    "int64": "long",
    "uint64": "long",
    "float16": "float",
    "float32": "float",
    "float64": "double",
    "string": "unicodeChar",
}


def parse_header(text: bytes, name: str, line: int) -> dict[str, Any]:
    """Parse a header.

    Parameters
    ----------
    text : bytes
        The YAML.
    name : str
        The header in messages.
    line : int
        The line of the file in which the text starts, for messages.

    Returns
    -------
    dict
        The header.

    Raises
    ------
    ReadError
        It is not YAML, or not a mapping.
    """
    try:
        header = yaml.load(text.decode(), _Loader)  # noqa: S506 a SafeLoader
    except yaml.YAMLError as error:
        where = f" in line {mark.line + line}" if (mark := getattr(error, "problem_mark", None)) is not None else ""
        raise ReadError(f"{name} is broken{where}: {getattr(error, 'problem', error)}") from error
    except (ArithmeticError, TypeError, ValueError) as error:  # invalid dates, numbers and texts
        raise ReadError(f"{name} is broken: {error}") from error
    except RecursionError as error:
        raise ReadError(f"{name} is nested too deeply") from error
    if not isinstance(header, dict):
        raise ReadError(f"{name} is empty")
    return header


def list_columns(header: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """Return the columns of a header, each with a name. ``name``: the header in messages. Raise ``ReadError``."""
    columns = header.get("datatype")
    if not isinstance(columns, list) or not columns:
        raise ReadError(f"{name} has no list of columns (datatype)")
    if not all(isinstance(column, dict) and isinstance(column.get("name"), str) for column in columns):
        raise ReadError(f"{name} (datatype): each column needs a name that is text")
    return columns


def read_description(header: dict[str, Any]) -> str:
    """Return the description of the table; '' if there is none."""
    return _scalar_to_text(_as_mapping(header.get("meta")).get("description")).strip()


class _Loader(yaml.SafeLoader):
    """A YAML loader that reads tagged objects (astropy units, Time ...) as the plain values below the tags.

    It refuses merge keys: a few lines of them can expand to billions of values.
    """

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        if any(key.tag == "tag:yaml.org,2002:merge" for key, _ in node.value):
            raise yaml.constructor.ConstructorError(None, None, "merge keys (<<) are not supported", node.start_mark)
        super().flatten_mapping(node)


def _construct_untagged(loader: _Loader, _suffix: str, node: yaml.Node) -> Any:
    if isinstance(node, yaml.MappingNode):
        return loader.construct_mapping(node, deep=True)
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node, deep=True)
    return loader.construct_scalar(node)  # type: ignore[arg-type]


_Loader.add_multi_constructor("!", _construct_untagged)


def list_fields(columns: list[dict[str, Any]], unusable: dict[str, str]) -> Iterator[Field]:
    """Yield the fields of the columns of a header; add other columns to ``unusable``, each with the reason."""
    for column in columns:
        name = column["name"]
        type_ = _find_type(column)
        if type_ is None:
            kind = f"{_scalar_to_text(column.get('datatype'))} {_scalar_to_text(column.get('subtype'))}"
            unusable[name] = f"the datatype {kind.strip()[:60]} cannot be stored"
            continue
        meta = _as_mapping(column.get("meta"))
        if xtype := _scalar_to_text(meta.get("xtype")):
            type_, _ = find_column_type(type_.datatype, type_.arraysize, xtype)
        unit = column.get("unit", "")
        yield Field(
            name,
            type_,
            unit=_scalar_to_text(unit.get("unit") if isinstance(unit, dict) else unit),
            ucd=_scalar_to_text(meta.get("ucd")),
            utype=_scalar_to_text(meta.get("utype")),
            description=_scalar_to_text(column.get("description")).strip(),
        )


def _find_type(column: dict[str, Any]) -> ColumnType | None:
    datatype, subtype = _scalar_to_text(column.get("datatype")), _scalar_to_text(column.get("subtype"))
    if datatype != "string" or not subtype:
        votable = _DATATYPES.get(datatype)
        return ColumnType(votable, "*" if datatype == "string" else "") if votable else None
    item, bracket, shape = subtype.partition("[")
    if not bracket:
        return ColumnType("unicodeChar", "*")  # JSON of any kind stays text
    if item not in _DATATYPES or item == "string":
        return None
    slowest, *faster = (size.strip() for size in shape.rstrip("]").split(","))
    sizes = [*reversed(faster), slowest if slowest.isdigit() else "*"]
    if len(sizes) > _MAX_AXES or not all(size.isdigit() for size in faster):
        return None
    return ColumnType(_DATATYPES[item], "x".join(sizes))


def _scalar_to_text(value: Any) -> str:
    """Return a text or a number as text, '' for other values: lists with aliases can expand without limit."""
    return str(value) if isinstance(value, str | int | float) else ""


def _as_mapping(meta: Any) -> dict[str, Any]:
    """Convert a mapping or a YAML ordered mapping (a list of pairs or of mappings with one key)."""
    if isinstance(meta, dict):
        return meta
    pairs: dict[str, Any] = {}
    for item in meta if isinstance(meta, list) else ():
        if isinstance(item, dict):
            pairs.update(item)
        elif isinstance(item, tuple) and len(item) == 2:
            pairs[str(item[0])] = item[1]
    return pairs
