"""Replaces keys and spellings of Felis that the model does not have, or leaves them out with a note.

This works on the raw document, before its keys and types are checked; anything malformed is left for that check.
https://felis.lsst.io/user-guide/model.html describes the keys.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from clickhouse_schema import obscore
from clickhouse_schema.datatypes import FELIS, INTEGERS, TEXT, is_integer_in_range
from clickhouse_schema.schema_files.model_keys import list_keys
from clickhouse_schema.schema_model import Column, ForeignKey, Schema, Table
from clickhouse_schema.schema_problem import Problem, YamlPath
from clickhouse_schema.strict_model import StrictModel
from clickhouse_schema.vounit import normalise_unit

_PLAIN = "the file is read as YAML, not as JSON-LD"

#: Keys that have no effect here, and why
_IGNORED: dict[type[StrictModel], dict[str, str]] = {
    Schema: {"@context": _PLAIN, "@type": _PLAIN},
    Table: {"@type": _PLAIN},
    Column: {
        "@type": _PLAIN,
        "value": "missing values are NULL",
        "defaultValue": "missing values are NULL",
        "autoincrement": "values come from the files",
    },
    ForeignKey: dict.fromkeys(
        ("deferrable", "initially", "on_delete", "on_update", "annotations"), "constraints are not enforced"
    ),
}

#: Prefixes of the keys that the model has
_OWN_PREFIXES = ("fits:", "ivoa:", "skyhouse:", "tap:", "votable:")
_FOREIGN_KEY = re.compile(r"[A-Za-z][\w.-]*:[^:]+")

#: Keys that must have a value
_FILLED = ("name", "datatype", "columns", "tables", "nullable", "@type", "referencedColumns")

#: The lists of models in each model
_PARTS: dict[type[StrictModel], dict[str, type[StrictModel]]] = {
    Schema: {"tables": Table},
    Table: {"columns": Column, "constraints": ForeignKey},
}

_MICROSECONDS = 6
_OTHER_VERSIONS = ("compatible", "read_compatible")

#: Felis datatypes of texts with a maximum length
_LIMITED = frozenset(word for word, datatype in FELIS.items() if datatype in TEXT) - {"timestamp"}

#: Maximum number of digits of a text that can be an integer
_MAX_DIGITS = 40

#: Numbers in texts; True: whole numbers
_NUMBER = {True: re.compile(r"[+-]?[0-9]+"), False: re.compile(r"[+-]?[0-9.]+([eE][+-]?[0-9]+)?")}


def simplify_keys(data: dict[str, Any]) -> tuple[dict[str, Any], list[Problem], list[Problem]]:
    """Return the document with the keys of the model, problems, and notes about what was left out.

    Lists become tuples, as in the model.
    """
    simplifier = _Simplifier(data)
    return simplifier.simplify_mapping(data, (), Schema), simplifier.problems, simplifier.notes


class _Simplifier:
    def __init__(self, data: dict[str, Any]) -> None:
        self.problems: list[Problem] = []
        self.notes: list[Problem] = []
        self._schema = data.get("name")
        self._rules: dict[type[StrictModel], Callable[[dict[str, Any], YamlPath], None]] = {
            Schema: self._simplify_schema,
            Table: self._simplify_table,
            Column: self._simplify_column,
        }

    def simplify_mapping(self, data: Any, path: YamlPath, model: type[StrictModel]) -> Any:
        if not isinstance(data, dict):
            return _freeze(data)
        known = list_keys(model)
        made = {}
        for key, value in data.items():
            at: YamlPath = (*path, key)
            if (reason := _find_disuse(key, model)) is not None:
                self._note(at, f"{key} is ignored: {reason}")
            elif value is None and key in known and key not in _FILLED and not key.startswith("skyhouse:"):
                self._note(at, f"{key} has no value: give one, or remove the line")
            else:
                made[key] = self._simplify_part(value, at, _PARTS.get(model, {}).get(key))
        if model is Column:
            self._compare_default(data, path)
        if model in self._rules:
            self._rules[model](made, path)
        return made

    def _simplify_part(self, value: Any, path: YamlPath, model: type[StrictModel] | None) -> Any:
        if model is None or not isinstance(value, list):
            return _freeze(value)
        return tuple(self.simplify_mapping(entry, (*path, i), model) for i, entry in enumerate(value))

    def _simplify_schema(self, schema: dict[str, Any], path: YamlPath) -> None:
        """Use the current version in a mapping of versions."""
        version = schema.get("version")
        if not isinstance(version, dict):
            return
        for key in version:
            if key in _OTHER_VERSIONS:
                self._note((*path, "version", key), f"{key} is ignored: the current version is published")
            elif key != "current":
                known = ", ".join(("current", *_OTHER_VERSIONS))
                self._report((*path, "version", key), f"unknown key {key!r}: known keys are {known}")
        if "current" not in version:
            self._report((*path, "version"), "the key 'current' is missing")
        schema["version"] = version.get("current", "")

    def _simplify_table(self, table: dict[str, Any], path: YamlPath) -> None:
        """Remove the schema from the table's name, and use the types of ObsCore for columns without a type."""
        name = table.get("name")
        if isinstance(name, str) and isinstance(self._schema, str) and name.startswith(f"{self._schema}."):
            table["name"] = name.removeprefix(f"{self._schema}.")
            self._note((*path, "name"), f"the table is {table['name']}: its name has no schema")
        columns = table.get("columns")
        if not (isinstance(columns, tuple) and obscore.is_obscore_name(self._schema, table.get("name"))):
            return
        for i, column in enumerate(columns):
            standard = obscore.DATATYPES.get(str(column.get("name"))) if isinstance(column, dict) else None
            if standard is not None and "datatype" not in column:
                column["datatype"] = standard
                self._note((*path, "columns", i), "the key 'datatype' is missing: the datatype of ObsCore 1.1 is used")

    def _simplify_column(self, column: dict[str, Any], path: YamlPath) -> None:
        for key in ("tap:principal", "tap:std"):
            if type(column.get(key)) is int and column[key] in (0, 1):
                column[key] = bool(column[key])
        self._simplify_precision(column, path)
        self._simplify_size(column, path)
        self._join_units(column, path)

    def _simplify_precision(self, column: dict[str, Any], path: YamlPath) -> None:
        """Remove the precision; timestamps have microseconds, which is enough for up to 6 digits."""
        if "precision" not in column:
            return
        precision = column.pop("precision")
        if column.get("datatype") != "timestamp":
            self._note((*path, "precision"), "precision is ignored: it is for timestamps")
        elif type(precision) is not int:
            self._report((*path, "precision"), "precision must be a whole number")
        elif not 0 <= precision <= _MICROSECONDS:
            self._note((*path, "precision"), f"precision {precision} is ignored: timestamps have microseconds")

    def _simplify_size(self, column: dict[str, Any], path: YamlPath) -> None:
        datatype, size, length = str(column.get("datatype")), column.get("votable:arraysize"), column.get("length")
        has_length = datatype != "timestamp" and (FELIS.get(datatype) in TEXT or datatype == "binary")
        if type(size) is int:
            self._note((*path, "votable:arraysize"), "votable:arraysize is a number: put it in quotes")
            column["votable:arraysize"] = size = "" if size == 1 and not has_length else str(size)
        if length is None or datatype not in FELIS:
            return
        if not has_length:
            self._note((*path, "length"), f"length is ignored: {datatype} has none (arrays have votable:arraysize)")
            del column["length"]
        elif isinstance(size, str) and size not in ("", "*") and re.split("[x*]", size)[0] != str(length):
            self._report((*path, "votable:arraysize"), f"votable:arraysize {size!r} contradicts length {length}")

    def _join_units(self, column: dict[str, Any], path: YamlPath) -> None:
        """Replace ``fits:tunit``, the other key of Felis for the unit."""
        if "fits:tunit" not in column:
            return
        fits, at = _strip(column.pop("fits:tunit")), (*path, "fits:tunit")
        ivoa = _strip(column.get("ivoa:unit", ""))
        if "" in (fits, ivoa):
            column["ivoa:unit"] = ivoa or fits
            return
        units = [normalise_unit(unit) if isinstance(unit, str) else unit for unit in (fits, ivoa)]
        if fits == ivoa or (units[0] is not None and units[0] == units[1]):
            self._note(at, "fits:tunit and ivoa:unit mean the same: keep one of them")
        else:
            self._report(at, f"fits:tunit {fits!r} contradicts ivoa:unit {ivoa!r}: keep one of them")

    def _compare_default(self, column: dict[str, Any], path: YamlPath) -> None:
        values = {key: column[key] for key in ("value", "defaultValue") if key in column}
        if len({repr(value) for value in values.values()}) > 1:
            self._note((*path, "defaultValue"), "defaultValue contradicts value: keep one of them")
        datatype, length = column.get("datatype"), column.get("length")
        for key, value in values.items():
            if value is None and column.get("nullable") is False:
                self._note((*path, key), f"{key} has no value, but nullable is false: remove the line")
            elif value is not None and isinstance(datatype, str) and not _can_be(value, FELIS.get(datatype, "")):
                self._note((*path, key), f"{key} {value!r} contradicts datatype {datatype!r}")
            elif isinstance(value, str) and datatype in _LIMITED and type(length) is int and len(value) > length:
                self._note((*path, key), f"{key} {value!r} contradicts length {length}")

    def _note(self, path: YamlPath, message: str) -> None:
        self.notes.append(Problem(path, message))

    def _report(self, path: YamlPath, message: str) -> None:
        self.problems.append(Problem(path, message))


def _freeze(value: Any) -> Any:
    """Return the value with tuples for lists."""
    if isinstance(value, list):
        return tuple(map(_freeze, value))
    if isinstance(value, dict):
        return {key: _freeze(part) for key, part in value.items()}
    return value


@lru_cache(maxsize=1024)
def _find_disuse(key: str, model: type[StrictModel]) -> str | None:
    """Return why a key has no effect; None if it is a key of the model, or may be meant as one."""
    if key in _IGNORED.get(model, ()):
        return _IGNORED[model][key]
    if key.startswith(_OWN_PREFIXES) or not _FOREIGN_KEY.fullmatch(key):
        return None
    if difflib.get_close_matches(key, list_keys(model), 1, 0.8):
        return None
    return f"keys of {key.partition(':')[0]} are for another program"


def _can_be(value: Any, datatype: str) -> bool:
    """Whether a default can have a VOTable datatype; ``'0'`` can be a number."""
    if datatype in TEXT or not datatype:
        return not isinstance(value, list | dict)
    if datatype == "boolean":
        return isinstance(value, bool)
    if isinstance(value, str) and not _NUMBER[datatype in INTEGERS].fullmatch(value):
        return False
    if datatype in INTEGERS:
        is_number = type(value) is int or (isinstance(value, str) and len(value) <= _MAX_DIGITS)
        return is_number and is_integer_in_range(int(value), datatype)
    return type(value) in (int, float, str)


def _strip(value: Any) -> Any:
    return value.strip() if isinstance(value, str) else value
