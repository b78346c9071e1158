"""The catalogue model: schemas, tables, columns and keys with Felis' YAML keys, and Skyhouse's storage layout.

The YAML is the catalogue; ``read_schema`` reads it strictly (an unknown key is an error with file and line).
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field as Key

from clickhouse_schema.datatypes import FELIS, ColumnType, Field


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class Column(Strict):
    name: str
    id: str = Key("", alias="@id")
    datatype: str
    length: int | None = None
    description: str = ""
    nullable: bool = True
    arraysize: str = Key("", alias="votable:arraysize")
    xtype: str = Key("", alias="votable:xtype")
    votable_datatype: str = Key("", alias="votable:datatype")
    utype: str = Key("", alias="votable:utype")
    ucd: str = Key("", alias="ivoa:ucd")
    unit: str = Key("", alias="ivoa:unit")
    principal: bool = Key(False, alias="tap:principal")
    std: bool = Key(False, alias="tap:std")
    column_index: int | None = Key(None, alias="tap:column_index")

    @property
    def type(self) -> ColumnType:
        datatype = self.votable_datatype or FELIS[self.datatype]
        if self.datatype == "timestamp":
            return ColumnType("char", "*", "timestamp")
        arraysize = self.arraysize or ("*" if datatype in ("char", "unicodeChar") else "")
        return ColumnType(datatype, arraysize, self.xtype)

    @property
    def field(self) -> Field:
        return Field(self.name, self.type, self.unit, self.ucd, self.utype, self.description, self.nullable)


class Layout(Strict):
    """How Skyhouse stores a table. ``position`` are the names of the ICRS longitude and latitude columns in degrees."""

    position: tuple[str, str] | None = None
    id: tuple[str, ...] = ()
    time: str = ""
    overlap_radius: float = 0.0


class ForeignKey(Strict):
    name: str
    columns: tuple[str, ...]
    referenced_table: str  # schema.table
    referenced_columns: tuple[str, ...]
    description: str = ""
    utype: str = ""


class Table(Strict):
    name: str
    description: str = ""
    utype: str = Key("", alias="votable:utype")
    columns: tuple[Column, ...]
    keys: tuple[ForeignKey, ...] = ()
    layout: Layout = Key(Layout(), alias="skyhouse:layout")


class Schema(Strict):
    name: str
    description: str = ""
    utype: str = Key("", alias="votable:utype")
    tables: tuple[Table, ...] = ()


def read_schema(text: str, source: str, *, strict: bool = False) -> tuple[Schema, list[Any]]:
    raise NotImplementedError
