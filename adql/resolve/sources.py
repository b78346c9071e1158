"""The tables of one FROM clause and the columns that they show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from adql.errors import Span
from adql.ir import Column, Expr, Output
from adql.resolve.identifiers import is_same_name
from adql.syntax import nodes
from clickhouse_schema.catalogue import TableEntry, find_places
from clickhouse_schema.reserved_words import name_to_adql


class Source:
    """One table of a FROM clause: a catalogue table (``entry``), a derived one (``outputs``), or a sample (both)."""

    def __init__(
        self,
        relation: int,
        alias: nodes.Identifier | None,
        entry: TableEntry | None = None,
        outputs: Sequence[Output] = (),
    ) -> None:
        self.relation = relation
        self.alias = alias
        self.entry = entry
        self.outputs = outputs
        self.is_optional = False  # on the side of an outer join that may be missing
        if entry:
            self.fields, self._places = entry.fields, entry.places
        else:
            self.fields = tuple(output.field for output in outputs)
            self._places = find_places(self.fields)

    @property
    def names(self) -> list[str]:
        return [field.name for field in self.fields]

    @property
    def title(self) -> str:
        if self.alias is not None:
            return name_to_adql(self.alias.name)
        return self.entry.qualified_name if self.entry else ""

    def bind_column(self, index: int, span: Span) -> Column:
        field = self.fields[index]
        name = self.outputs[index].alias if self.outputs else field.name
        if self.is_optional and not field.nullable:
            field = replace(field, nullable=True)
        return Column(field.type, self.relation, name, field, span=span)

    def find_places(self, name: nodes.Identifier) -> list[int]:
        """Return the indexes of the columns of this name."""
        found = self._places.get(name.name.lower(), ())
        return [place for place in found if not name.delimited or self.fields[place].name == name.name]

    def is_called(self, parts: Sequence[nodes.Identifier]) -> bool:
        """Whether a qualifier (``alias``, ``table`` or ``schema.table``) names this table; an alias hides its name."""
        if self.alias is not None:
            return len(parts) == 1 and is_same_name(parts[0], self.alias.name)
        return self.is_table(parts)

    def is_hidden(self, parts: Sequence[nodes.Identifier]) -> bool:
        """Whether a qualifier names this table, hidden by an alias."""
        return self.alias is not None and self.is_table(parts)

    def is_table(self, parts: Sequence[nodes.Identifier]) -> bool:
        if self.entry is None or len(parts) > 2:
            return False
        *schema, table = parts
        if not is_same_name(table, self.entry.table.name):
            return False
        return not schema or is_same_name(schema[0], self.entry.schema.name)


class Visible(NamedTuple):
    """A column that can be named without a qualifier: one of a source, or a merged one of USING and NATURAL."""

    name: str
    source: Source | None = None
    place: int = 0
    merged: Expr | None = None

    def bind(self, span: Span) -> Expr:
        if self.merged is not None:
            return replace(self.merged, span=span)
        assert self.source is not None  # noqa: S101  one of the two is there
        return self.source.bind_column(self.place, span)


def list_visible(source: Source) -> list[Visible]:
    return [Visible(field.name, source, index) for index, field in enumerate(source.fields)]
