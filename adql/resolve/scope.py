"""Look-up of columns in the tables of a FROM clause, then in the tables of the outer queries."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from heapq import nlargest
from typing import NamedTuple

from adql.errors import NO_HINT, AdqlSemanticError, Fix, Hint, Span, make_printable
from adql.ir import Column, Expr, Output, walk_columns
from adql.node_classes import replace
from adql.syntax import nodes
from adql.syntax.hints.other_dialects import find_column_hint
from clickhouse_schema.catalogue import TableEntry, find_column_indexes
from clickhouse_schema.reserved_words import name_to_adql


class Source:
    """A table of a FROM clause: a catalogue table (``entry``), a derived table (``outputs``), or a sample (both)."""

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
        self.is_optional = False  # on the side of an outer join that may be NULL
        if entry:
            self.fields, self.indexes_by_name = entry.fields, entry.column_indexes
        else:
            self.fields = tuple(output.field for output in outputs)
            self.indexes_by_name = find_column_indexes(self.fields)

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

    def find_indexes(self, name: nodes.Identifier) -> list[int]:
        """Return the indexes of the columns with this name; a delimited identifier is case-sensitive."""
        found = self.indexes_by_name.get(name.name.lower(), ())
        return [index for index in found if self.fields[index].name == name.name] if name.delimited else [*found]

    def is_called(self, parts: Sequence[nodes.Identifier]) -> bool:
        """Return whether a qualifier (``alias``, ``table`` or ``schema.table``) means this table.

        A table with an alias is called by the alias only.
        """
        if self.alias is not None:
            return len(parts) == 1 and is_same_name(parts[0], self.alias.name)
        return self.is_table(parts)

    def is_hidden(self, parts: Sequence[nodes.Identifier]) -> bool:
        """Return whether a qualifier is the name of this table, which has an alias."""
        return self.alias is not None and self.is_table(parts)

    def is_table(self, parts: Sequence[nodes.Identifier]) -> bool:
        if self.entry is None or len(parts) > 2:
            return False
        *schema, table = parts
        if not is_same_name(table, self.entry.table.name):
            return False
        return not schema or is_same_name(schema[0], self.entry.schema.name)


class Visible(NamedTuple):
    """A column that can be named without a qualifier: a column of a source, or merged by USING or NATURAL."""

    name: str
    source: Source | None = None
    number: int = 0  # of the column in the source
    merged: Expr | None = None

    def bind(self, span: Span) -> Expr:
        if self.merged is not None:
            return replace(self.merged, span=span)
        assert self.source is not None  # noqa: S101  a column is merged or has a source
        return self.source.bind_column(self.number, span)


def list_visible(sources: Iterable[Source]) -> list[Visible]:
    return [Visible(field.name, source, index) for source in sources for index, field in enumerate(source.fields)]


#: Like ``MIN_LIKENESS``, for a name in double quotes, which may be intended as a text
_MIN_LIKENESS_DELIMITED = 0.75

Parts = tuple[nodes.Identifier, ...]


class Scope:
    """The columns that the expressions of one query can name.

    Parameters
    ----------
    sources
        The tables of FROM.
    merged
        The visible columns, if USING or NATURAL has merged columns; None if all columns of the sources are visible.
    parent
        The scope of the outer query; None without one.

    Attributes
    ----------
    aliases
        The aliases of SELECT, in lower case. Expressions cannot use them, but queries often do.
    """

    def __init__(self, sources: list[Source], merged: list[Visible] | None, parent: Scope | None) -> None:
        self.sources = sources
        self.parent = parent
        self.aliases: frozenset[str] = frozenset()
        self._merged = merged
        self._merged_by_name: dict[str, list[Visible]] = {}
        for column in merged or ():
            self._merged_by_name.setdefault(column.name.lower(), []).append(column)
        self._called: dict[tuple[str, bool], list[Source]] = {}

    @property
    def visible(self) -> list[Visible]:
        """The columns in the order of ``SELECT *``; too slow for look-ups, because tables may be wide."""
        return list_visible(self.sources) if self._merged is None else self._merged

    def find_column(self, parts: Parts, span: Span) -> Expr:
        """Return the column to which a reference refers, in this query or an outer one.

        Raises
        ------
        AdqlSemanticError
            If the column is unknown or ambiguous.
        """
        scope: Scope | None = self
        while scope is not None:
            found = scope.find_own_column(parts, span)
            if found is not None:
                return found
            scope = scope.parent
        raise self.make_unknown_error(parts, span)

    def find_own_column(self, parts: Parts, span: Span) -> Expr | None:
        """Return the column to which a reference refers in this query; None if there is none."""
        if len(parts) > 1:
            return self._find_qualified(parts, span)
        [name] = parts
        candidates = [v for v in self._find_by_name(name) if is_same_name(name, v.name)]
        if len(candidates) > 1:
            where = " and ".join(v.source.title for v in candidates if v.source)
            raise AdqlSemanticError(
                f"column {parts_to_text(parts)} is ambiguous: it is in {where}",
                span,
                "qualify it with the table's name or alias",
            )
        return candidates[0].bind(span) if candidates else None

    def find_source(self, qualifier: Parts, span: Span) -> Source:
        """Return the table that a qualifier names; raise AdqlSemanticError unless there is exactly one."""
        called = [source for source in self.sources if source.is_called(qualifier)]
        if len(called) == 1:
            return called[0]
        name = parts_to_text(qualifier)
        if called:
            raise AdqlSemanticError(
                f"{len(called)} tables are called {name} in this FROM clause", span, "give each table its own alias"
            )
        here = qualifier[0].span.extend_to(qualifier[-1].span)
        for source in self.sources:
            if source.is_hidden(qualifier):
                raise AdqlSemanticError(
                    f"{name} is called {source.title} in this FROM clause",
                    span,
                    Hint(f"an alias hides the table's name: write {source.title}", (Fix(here, source.title),)),
                )
        titles = [source.title for source in self.sources]
        known = f"the table is {titles[0]}" if len(titles) == 1 else f"the tables are {', '.join(titles)}"
        hint = suggest_name(name, titles, here) or known
        raise AdqlSemanticError(f"there is no table {name} in this FROM clause", span, hint)

    def is_outer(self, expr: Expr) -> bool:
        """Return whether ``expr`` has columns, and all of them belong to outer queries."""
        own = {source.relation for source in self.sources}
        used = {column.relation for column in walk_columns(expr)}
        return bool(used) and not used & own

    def make_unknown_error(self, parts: Parts, span: Span) -> AdqlSemanticError:
        """Return the error about a reference to a column that does not exist."""
        *_, name = parts
        message = f"there is no column {parts_to_text(parts)}"
        if any(len(parts) > 1 and source.is_table(parts) for source in self.sources):
            return AdqlSemanticError(f"{parts_to_text(parts)} is a table", span, "name one of its columns")
        if len(parts) > 1:
            source = self.find_source(parts[:-1], span)
            message = f"there is no column {parts_to_text(parts[-1:])} in {source.title}"
            hint = suggest_name(name.name, map(name_to_adql, source.names), name.span)
            return AdqlSemanticError(message, span, hint)
        if name.delimited and (other_case := self._find_by_name(name)):
            exact = delimit(other_case[0].name)
            hint = Hint(f"delimited names are case-sensitive: did you mean {exact}?", (Fix(span, exact),))
            return AdqlSemanticError(message, span, hint)
        if name.name.lower() in self.aliases:
            return AdqlSemanticError(
                f"{message}; SELECT gives this name to an expression that is computed later",
                span,
                "repeat its expression, or select it in a subquery",
            )
        return AdqlSemanticError(message, span, self._make_unknown_hint(name, span))

    def _find_qualified(self, parts: Parts, span: Span) -> Expr | None:
        called = self._find_called(parts[:-1])
        if not called:
            return None
        source = called[0] if len(called) == 1 else self.find_source(parts[:-1], span)
        indexes = source.find_indexes(parts[-1])
        if len(indexes) > 1:
            raise AdqlSemanticError(
                f"{len(indexes)} columns are called {parts_to_text(parts)}",
                span,
                "give the columns of the subquery different names",
            )
        return source.bind_column(indexes[0], span) if indexes else None

    def _find_called(self, qualifier: Parts) -> list[Source]:
        """Return the tables that a qualifier names. Single names, which are most frequent, are looked up once."""
        bare = qualifier[0]
        called = self._called.get((bare.name, bare.delimited)) if len(qualifier) == 1 else None
        if called is None:
            called = [source for source in self.sources if source.is_called(qualifier)]
            if len(qualifier) == 1:
                self._called[bare.name, bare.delimited] = called
        return called

    def _find_by_name(self, name: nodes.Identifier) -> list[Visible]:
        """Return the visible columns with this name, in any case."""
        key = name.name.lower()
        if self._merged is not None:
            return self._merged_by_name.get(key, [])
        found = [(source, index) for source in self.sources for index in source.indexes_by_name.get(key, ())]
        return [Visible(source.fields[index].name, source, index) for source, index in found]

    def _make_unknown_hint(self, name: nodes.Identifier, span: Span) -> Hint:
        """Return the hint for an unknown name without a qualifier."""
        titles = {source.title.rpartition(".")[2].lower() for source in self.sources}
        if name.name.lower() in titles:
            hint = Hint(f"{name.name} is a table: name one of its columns")
        else:
            hint = find_column_hint(name.name) or self._suggest_column(name, span)
        if not name.delimited:
            return hint or Hint("write text in single quotes; TAP_SCHEMA.columns lists the columns")
        within = name.name.split(".")
        last = nodes.Identifier(name.span, within[-1], True)
        if len(within) > 1 and self._find_by_name(last):
            whole = ".".join(map(name_to_adql, within))
            return Hint(f"quote each part of a name separately: {whole}", (Fix(span, whole),))
        text = "'" + name.name.replace("'", "''") + "'"
        return hint or Hint(f"write text in single quotes, {make_printable(text)}", (Fix(span, text),))

    def _suggest_column(self, name: nodes.Identifier, span: Span) -> Hint:
        """Suggest the column of the most similar name, with the first of the tables that has a similar one."""
        likeness = _MIN_LIKENESS_DELIMITED if name.delimited else MIN_LIKENESS
        hint = suggest_name(name.name, [name_to_adql(v.name) for v in self.visible], span, likeness)
        if not hint.fixes:
            return hint
        for source in self.sources:
            close = find_close_name(name.name, source.names)
            if close is not None:
                return make_name_hint(name_to_adql(close), span, f" in {source.title}")
        return hint


# --- identifiers ------------------------------------------------------------------------------------------------------


#: Minimum similarity (difflib's ratio) of a name to a suggestion for it
MIN_LIKENESS = 0.6

#: Of more than ``_MAX_NAMES`` names, only the ``_MAX_COMPARED`` with the most common pairs of letters are compared. One
#: comparison takes 10 to 30 microseconds.
_MAX_NAMES, _MAX_COMPARED = 200, 50


def is_same_name(identifier: nodes.Identifier, name: str) -> bool:
    """Return whether ``identifier`` means ``name``: a delimited one is case-sensitive (ADQL 2.1, section 2.1.3)."""
    return identifier.name == name if identifier.delimited else identifier.name.lower() == name.lower()


def find_close_name(name: str, known: Iterable[str], likeness: float = MIN_LIKENESS) -> str | None:
    """Return the known name that is most similar to ``name``, ignoring case; None if no name is similar enough."""
    by_lower_case = {k.lower(): k for k in known}
    wanted = name.lower()
    compared: Iterable[str] = by_lower_case
    if len(by_lower_case) > _MAX_NAMES:
        pairs = [wanted[at : at + 2] for at in range(0, len(wanted), 2)]
        by_pairs = {k: sum(map(k.__contains__, pairs)) - abs(len(k) - len(wanted)) for k in by_lower_case}
        compared = nlargest(_MAX_COMPARED, by_pairs, key=by_pairs.__getitem__)
    close = get_close_matches(wanted, compared, n=1, cutoff=likeness)
    return by_lower_case[close[0]] if close else None


def suggest_name(name: str, known: Iterable[str], span: Span, likeness: float = MIN_LIKENESS) -> Hint:
    """Return the hint ``did you mean x?`` with its fix, or no hint; ``known`` has names as a query must write them."""
    close = find_close_name(name, known, likeness)
    return NO_HINT if close is None else make_name_hint(close, span)


def make_name_hint(name: str, span: Span, where: str = "") -> Hint:
    """Return the hint to replace ``span`` by ``name``; ``where`` follows the name in the question."""
    return Hint(f"did you mean {name}{where}?", (Fix(span, name),))


def parts_to_text(parts: Sequence[nodes.Identifier]) -> str:
    """Return a qualified name as the user wrote it."""
    return ".".join(delimit(p.name) if p.delimited else p.name for p in parts)


def delimit(name: str) -> str:
    """Return the name as a delimited identifier."""
    return '"' + name.replace('"', '""') + '"'
