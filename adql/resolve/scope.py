"""Where names are looked up: the tables of one FROM clause, inside those of the queries around it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import NamedTuple

from adql.errors import NO_HINT, AdqlSemanticError, Fix, Hint, Span, make_printable
from adql.ir import Column, Expr, NameGenerator, Output, walk_columns
from adql.syntax import nodes
from adql.syntax.hints.other_dialects import find_column_hint
from clickhouse_schema.catalogue import TableEntry, find_places
from clickhouse_schema.reserved_words import name_to_adql

#: How much a name is like the one that is meant (difflib); in double quotes a text may be meant as well
_LIKE, _LIKELY = 0.6, 0.75


def same_name(written: nodes.Identifier, name: str) -> bool:
    """ADQL 2.1, 2.1.3: delimited identifiers keep their case, regular ones have none."""
    return written.name == name if written.delimited else written.name.lower() == name.lower()


def suggestion(name: str, known: Iterable[str], span: Span, likeness: float = _LIKE) -> Hint:
    """``did you mean x?`` in place of ``span``, or nothing; ``known`` as they are written in a query."""
    by_fold = {k.lower(): k for k in known}
    close = get_close_matches(name.lower(), by_fold, n=1, cutoff=likeness)
    return meant(by_fold[close[0]], span) if close else NO_HINT


def meant(name: str, span: Span, where: str = "") -> Hint:
    """``name`` is written in place of ``span``; ``where`` says of what it is a name."""
    return Hint(f"did you mean {name}{where}?", (Fix(span, name),))


class Source:
    """One table of a FROM clause: a catalogue table (``entry``), the ``outputs`` of a derived one, both of a sample."""

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
        self.optional = False  # on the side of an outer join that may be missing
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

    def column(self, index: int, span: Span) -> Column:
        field = self.fields[index]
        name = self.outputs[index].alias if self.outputs else field.name
        if self.optional and not field.nullable:
            field = replace(field, nullable=True)
        return Column(field.type, self.relation, name, field, span=span)

    def places(self, name: nodes.Identifier) -> list[int]:
        """The columns of this name."""
        found = self._places.get(name.name.lower(), ())
        return [place for place in found if not name.delimited or self.fields[place].name == name.name]

    def is_called(self, parts: Sequence[nodes.Identifier]) -> bool:
        """Whether a qualifier (``alias``, ``table`` or ``schema.table``) names this table.

        An alias hides the table's name.
        """
        if self.alias is not None:
            return len(parts) == 1 and same_name(parts[0], self.alias.name)
        return self.is_table(parts)

    def is_hidden(self, parts: Sequence[nodes.Identifier]) -> bool:
        """Whether a qualifier names this table, but for the alias that it has."""
        return self.alias is not None and self.is_table(parts)

    def is_table(self, parts: Sequence[nodes.Identifier]) -> bool:
        if self.entry is None or not same_name(parts[-1], self.entry.table.name):
            return False
        return len(parts) == 1 or (len(parts) == 2 and same_name(parts[0], self.entry.schema.name))


class Visible(NamedTuple):
    """A column that can be named without a qualifier: one of a source, or a merged one of USING and NATURAL."""

    name: str
    source: Source | None = None
    place: int = 0
    merged: Expr | None = None

    def bind(self, span: Span) -> Expr:
        if self.merged is not None:
            return replace(self.merged, span=span)
        assert self.source is not None  # noqa: S101  one of the two is always there
        return self.source.column(self.place, span)


def visible_columns(source: Source) -> list[Visible]:
    return [Visible(field.name, source, index) for index, field in enumerate(source.fields)]


class Scope:
    """``visible``: columns by bare name, in the order of ``SELECT *``. ``parent``: the scope of the query around.

    ``aliases``: names that SELECT gives, in lower case; they are not known here, and are often taken for columns.
    """

    def __init__(
        self, sources: list[Source], visible: list[Visible], parent: Scope | None, fresh: NameGenerator
    ) -> None:
        self.sources = sources
        self.visible = visible
        self.parent = parent
        self.aliases: frozenset[str] = frozenset()
        self._fresh = fresh
        self._by_fold: dict[str, list[Visible]] | None = None

    def find(self, parts: tuple[nodes.Identifier, ...], span: Span) -> Expr:
        """The column of a reference, here or in the queries around; AdqlSemanticError if it is unknown or ambiguous."""
        found = self.find_here(parts, span)
        if found is not None:
            return found
        around = self.parent
        while around is not None:
            found = around.find_here(parts, span)
            if found is not None:
                self._fresh.is_correlated = True
                return found
            around = around.parent
        raise self.unknown(parts, span)

    def is_around(self, expr: Expr) -> bool:
        """Whether all its columns, one at least, are those of queries around."""
        own = {source.relation for source in self.sources}
        used = {column.relation for column in walk_columns(expr)}
        return bool(used) and not used & own

    def sources_called(self, qualifier: tuple[nodes.Identifier, ...], span: Span) -> Source:
        """The one table that a qualifier names."""
        called = [source for source in self.sources if source.is_called(qualifier)]
        if len(called) == 1:
            return called[0]
        if called:
            raise AdqlSemanticError(
                f"{written(qualifier)} names {len(called)} tables here", span, "give each its own alias"
            )
        for source in self.sources:
            if source.is_hidden(qualifier):
                here = qualifier[0].span.extend_to(qualifier[-1].span)
                raise AdqlSemanticError(
                    f"{written(qualifier)} is called {source.title} in this FROM clause",
                    span,
                    Hint(f"an alias hides the table's name: write {source.title}", (Fix(here, source.title),)),
                )
        titles = [source.title for source in self.sources]
        raise AdqlSemanticError(
            f"there is no table {written(qualifier)} in this FROM clause",
            span,
            suggestion(written(qualifier), titles, qualifier[0].span.extend_to(qualifier[-1].span))
            or f"there is {', '.join(titles)}",
        )

    def find_here(self, parts: tuple[nodes.Identifier, ...], span: Span) -> Expr | None:
        column = parts[-1]
        if len(parts) == 1:
            candidates = [v for v in self._folded().get(column.name.lower(), ()) if same_name(column, v.name)]
            if len(candidates) > 1:
                where = " and ".join(v.source.title for v in candidates if v.source)
                raise AdqlSemanticError(
                    f"column {written(parts)} is ambiguous: it is in {where}",
                    span,
                    "put the table's name or alias before it",
                )
            return candidates[0].bind(span) if candidates else None
        called = [source for source in self.sources if source.is_called(parts[:-1])]
        if not called:
            return None
        source = called[0] if len(called) == 1 else self.sources_called(parts[:-1], span)
        indexes = source.places(column)
        if len(indexes) > 1:
            raise AdqlSemanticError(
                f"{written(parts)} names {len(indexes)} columns",
                span,
                "give the columns of the subquery different names",
            )
        return source.column(indexes[0], span) if indexes else None

    def _folded(self) -> dict[str, list[Visible]]:
        if self._by_fold is None:
            self._by_fold = {}
            for v in self.visible:
                self._by_fold.setdefault(v.name.lower(), []).append(v)
        return self._by_fold

    def unknown(self, parts: tuple[nodes.Identifier, ...], span: Span) -> AdqlSemanticError:
        name = parts[-1]
        if any(len(parts) > 1 and source.is_table(parts) for source in self.sources):
            return AdqlSemanticError(f"{written(parts)} is a table", span, "name a column of it")
        if len(parts) > 1:
            source = self.sources_called(parts[:-1], span)
            return AdqlSemanticError(
                f"there is no column {written(parts[-1:])} in {source.title}",
                span,
                suggestion(name.name, map(name_to_adql, source.names), name.span),
            )
        if name.delimited and name.name.lower() in self._folded():
            exact = '"' + self._folded()[name.name.lower()][0].name.replace('"', '""') + '"'
            hint = Hint(f"delimited names keep their case: did you mean {exact}?", (Fix(span, exact),))
            return AdqlSemanticError(f"there is no column {written(parts)}", span, hint)
        if name.name.lower() in self.aliases:
            return AdqlSemanticError(
                f"there is no column {written(parts)}; SELECT names something so, which is computed later",
                span,
                "write its expression again, or select it in a subquery",
            )
        known = [name_to_adql(v.name) for v in self.visible]
        hint = find_column_hint(name.name) or suggestion(name.name, known, span, _LIKELY if name.delimited else _LIKE)
        for source in self.sources:
            close = get_close_matches(name.name.lower(), [n.lower() for n in source.names], n=1, cutoff=_LIKE)
            if close and hint.fixes:
                exact = next(n for n in source.names if n.lower() == close[0])
                hint = meant(name_to_adql(exact), span, f" in {source.title}")
                break
        if any(source.title.rpartition(".")[2].lower() == name.name.lower() for source in self.sources):
            hint = Hint(f"{name.name} is a table: name a column of it")
        within = name.name.split(".")
        if name.delimited and len(within) > 1 and within[-1].lower() in self._folded():
            whole = ".".join(map(name_to_adql, within))
            hint = Hint(f"each part of a name has its own quotes: {whole}", (Fix(span, whole),))
        if not hint and name.delimited:
            text = "'" + name.name.replace("'", "''") + "'"
            hint = Hint(f"text is written in single quotes, {make_printable(text)}", (Fix(span, text),))
        if not hint:
            hint = Hint("text is written in single quotes; TAP_SCHEMA.columns lists the columns")
        return AdqlSemanticError(f"there is no column {written(parts)}", span, hint)


def written(parts: Sequence[nodes.Identifier]) -> str:
    """A qualified name as the user wrote it."""
    return ".".join('"' + p.name.replace('"', '""') + '"' if p.delimited else p.name for p in parts)
