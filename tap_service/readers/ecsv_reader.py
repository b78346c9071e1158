"""Reader of ECSV (Enhanced Character-Separated Values, astropy APE 6): CSV with a YAML header of types and units."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import yaml

from clickhouse_schema.datatypes import ColumnType, Field
from tap_service.models.read_options import AS_DETECTED, ReadOptions
from tap_service.readers.byte_stream import ByteStream
from tap_service.readers.csv_reader import CsvSource
from tap_service.readers.read_error import ReadError
from tap_service.readers.table_source import MAX_FILE_COLUMNS, MAX_HEADER_BYTES
from tap_service.readers.text_dialect import Dialect
from tap_service.readers.votable_xml_reader import find_column_type

#: The limit for arrays in schema files
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


class EcsvSource(CsvSource):
    """``null``, not only an empty field, is NULL: Gaia's files have it in columns of every type."""

    null_words: ClassVar[tuple[str, ...]] = ("null",)
    _joins_blanks: ClassVar[bool] = False

    def __init__(self, path: Path, options: ReadOptions = AS_DETECTED) -> None:
        header, line = _read_header(path)
        columns = header.get("datatype")
        if not isinstance(columns, list) or not columns:
            raise ReadError(f"{path}: the ECSV header has no list of columns (datatype)")
        if not all(isinstance(column, dict) and isinstance(column.get("name"), str) for column in columns):
            raise ReadError(f"{path}: each column in the ECSV header (datatype) needs a name that is text")
        if len(columns) > MAX_FILE_COLUMNS:
            raise ReadError(f"{path} has {len(columns)} columns; the limit is {MAX_FILE_COLUMNS}")
        names = tuple(column["name"] for column in columns)
        unusable: dict[str, str] = {}
        fields = tuple(_list_fields(columns, unusable))
        meta = _as_mapping(header.get("meta"))
        if (delimiter := header.get("delimiter", " ")) not in (" ", ","):
            raise ReadError(f"{path}: the delimiter in the ECSV header is neither a space nor a comma")
        super().__init__(
            path, options, Dialect(delimiter, names, line + 1, line), fields, _scalar_to_text(meta.get("description"))
        )
        self.unusable = unusable


def _read_header(path: Path) -> tuple[dict[str, Any], int]:
    """Return the YAML above the data, and the number of the line that names the columns."""
    lines = []
    length = 0
    with ByteStream(path) as stream:
        line = 1
        while (text := stream.readline(MAX_HEADER_BYTES + 1)).startswith(b"#"):
            lines.append(text[1:].removeprefix(b" "))
            line += 1
            length += len(text)
            if length > MAX_HEADER_BYTES:
                raise ReadError(f"{path}: the ECSV header has more than {MAX_HEADER_BYTES} bytes")
    try:
        header = yaml.load(b"".join(lines[1:]).decode(), _Loader)  # noqa: S506 a SafeLoader
    except yaml.YAMLError as error:
        where = f" in line {mark.line + 2}" if (mark := getattr(error, "problem_mark", None)) is not None else ""
        raise ReadError(f"{path}: the ECSV header is broken{where}: {getattr(error, 'problem', error)}") from error
    except (ArithmeticError, TypeError, ValueError) as error:  # invalid dates, numbers and texts
        raise ReadError(f"{path}: the ECSV header is broken: {error}") from error
    except RecursionError as error:
        raise ReadError(f"{path}: the ECSV header is nested too deeply") from error
    if not isinstance(header, dict):
        raise ReadError(f"{path}: the ECSV header is empty")
    return header, line


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


def _list_fields(columns: list[dict[str, Any]], unusable: dict[str, str]) -> Iterator[Field]:
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
            description=_scalar_to_text(column.get("description")),
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
