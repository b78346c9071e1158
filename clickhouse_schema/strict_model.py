"""The base of the models for schema files, and the types of their texts."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, PlainValidator
from pydantic import Field as Key

from clickhouse_schema.datatypes import FELIS

#: TAP_SCHEMA of other services and several clients truncate names at this length
MAX_NAME_LENGTH = 64

#: Characters that XML 1.0 cannot contain
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")

_ARRAYSIZE = re.compile(r"([1-9][0-9]{0,8}x){0,4}(\*|[1-9][0-9]{0,8}\*?)")


def _check_name(value: str) -> str:
    if not value:
        raise ValueError("is empty: give a name")
    if not value.isprintable():
        raise ValueError(f"{value!r} has a control character: only printable characters can be names")
    if value != value.strip():
        raise ValueError(f"{value!r} starts or ends with a space: remove it")
    if len(value) > MAX_NAME_LENGTH:
        raise ValueError(f"{value[:20] + '...'!r} has {len(value)} characters: names have at most {MAX_NAME_LENGTH}")
    return value


def _check_dotless(value: str) -> str:
    if "." in value:
        raise ValueError(f"{value!r} has a dot, which separates schema from table: write _ instead")
    return value


def _check_text(value: str) -> str:
    if found := _NOT_XML.search(value):
        raise ValueError(f"has the character {found[0]!r}, which XML cannot contain: remove it")
    return value


def check_datatype(value: str) -> str:
    """Return a Felis datatype.

    Parameters
    ----------
    value : str
        A word from a schema file or a request, compared with case.

    Returns
    -------
    str
        The same word.

    Raises
    ------
    ValueError
        It is not a key of ``FELIS``; the message lists the datatypes.
    """
    if value not in FELIS:
        raise ValueError(f"{value!r} is not a datatype: use one of {', '.join(FELIS)}")
    return value


def _check_arraysize(value: str) -> str:
    if value and not _ARRAYSIZE.fullmatch(value):
        raise ValueError(f"{value!r} is not an array size: write '*', '8', '8*' or '2x3'")
    return value


def _check_value(value: Any) -> int | str:
    if type(value) not in (int, str):
        raise ValueError(f"skyhouse:values has {value!r}: put texts in quotes")
    return _check_text(value) if isinstance(value, str) else int(value)


#: Names of columns, keys and examples; names of schemas and tables
Name = Annotated[str, AfterValidator(_check_name)]
QualifierName = Annotated[Name, AfterValidator(_check_dotless)]
#: TAP_SCHEMA stores these numbers in 32 bits
Index = Annotated[int, Key(ge=-(2**31), lt=2**31)]
#: Text that is written to XML and TAP_SCHEMA
Text = Annotated[str, AfterValidator(_check_text)]
#: Datatypes of Felis, and arraysizes of VOTable
Datatype = Annotated[str, AfterValidator(check_datatype)]
Arraysize = Annotated[str, AfterValidator(_check_arraysize)]
#: A value that a column may have
Value = Annotated[int | str, PlainValidator(_check_value)]


def felis_key(key: str, default: Any = "") -> Any:
    """Return a field that has the name ``key`` in files and documents."""
    return Key(default, validation_alias=key, serialization_alias=key)


class StrictModel(BaseModel):
    """A frozen model without coercion and without unknown keys; fields have their names and their aliases."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, validate_by_alias=True, validate_by_name=True)
