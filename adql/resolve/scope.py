"""Look-up of columns in the tables of one FROM clause, then in those of the queries around it."""

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
            self.fields, self.places = entry.fields, entry.places
        else:
            self.fields = tuple(output.field for output in outputs)
            self.places = find_places(self.fields)

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
        found = self.places.get(name.name.lower(), ())
        return [place for place in found if self.fields[place].name == name.name] if name.delimited else [*found]

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


def list_visible(sources: Iterable[Source]) -> list[Visible]:
    return [Visible(field.name, source, index) for source in sources for index, field in enumerate(source.fields)]


#: As ``MIN_LIKENESS``, for a name in double quotes, which may be meant as a text
_MIN_LIKENESS_DELIMITED = 0.75

Parts = tuple[nodes.Identifier, ...]


class Scope:
    """The columns that the expressions of one query can name.

    ``merged``: the visible columns if USING or NATURAL has merged some, else None: those of the sources. ``parent``:
    the scope of the query around. ``aliases``: the names that SELECT gives, in lower case. They cannot be used here,
    but often are.
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
        """The columns by bare name, in the order of ``SELECT *``; not for look-ups, since tables may be wide."""
        return list_visible(self.sources) if self._merged is None else self._merged

    def find_column(self, parts: Parts, span: Span) -> Expr:
        """Return the column of a reference, here or in the queries around.

        Raises
        ------
        AdqlSemanticError
            The column is unknown or ambiguous.
        """
        scope: Scope | None = self
        while scope is not None:
            found = scope.find_own_column(parts, span)
            if found is not None:
                return found
            scope = scope.parent
        raise self.make_unknown_error(parts, span)

    def find_own_column(self, parts: Parts, span: Span) -> Expr | None:
        """Return the column of a reference to a table of this query; None if there is none."""
        if len(parts) > 1:
            return self._find_qualified(parts, span)
        [name] = parts
        candidates = [v for v in self._find_by_name(name) if is_same_name(name, v.name)]
        if len(candidates) > 1:
            where = " and ".join(v.source.title for v in candidates if v.source)
            raise AdqlSemanticError(
                f"column {parts_to_text(parts)} is ambiguous: it is in {where}",
                span,
                "put the table's name or alias before it",
            )
        return candidates[0].bind(span) if candidates else None

    def find_source(self, qualifier: Parts, span: Span) -> Source:
        """Return the one table that a qualifier names."""
        called = [source for source in self.sources if source.is_called(qualifier)]
        if len(called) == 1:
            return called[0]
        name = parts_to_text(qualifier)
        if called:
            raise AdqlSemanticError(f"{name} names {len(called)} tables here", span, "give each its own alias")
        here = qualifier[0].span.extend_to(qualifier[-1].span)
        for source in self.sources:
            if source.is_hidden(qualifier):
                raise AdqlSemanticError(
                    f"{name} is called {source.title} in this FROM clause",
                    span,
                    Hint(f"an alias hides the table's name: write {source.title}", (Fix(here, source.title),)),
                )
        titles = [source.title for source in self.sources]
        hint = suggest_name(name, titles, here) or f"there is {', '.join(titles)}"
        raise AdqlSemanticError(f"there is no table {name} in this FROM clause", span, hint)

    def is_outer(self, expr: Expr) -> bool:
        """Whether ``expr`` has columns, all of them of queries around."""
        own = {source.relation for source in self.sources}
        used = {column.relation for column in walk_columns(expr)}
        return bool(used) and not used & own

    def make_unknown_error(self, parts: Parts, span: Span) -> AdqlSemanticError:
        """Return the error about a reference to a column that does not exist."""
        *_, name = parts
        message = f"there is no column {parts_to_text(parts)}"
        if any(len(parts) > 1 and source.is_table(parts) for source in self.sources):
            return AdqlSemanticError(f"{parts_to_text(parts)} is a table", span, "name a column of it")
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
                f"{message}; SELECT gives this name to a value that is computed later",
                span,
                "repeat its expression, or select it in a subquery",
            )
        return AdqlSemanticError(message, span, self._make_unknown_hint(name, span))

    def _find_qualified(self, parts: Parts, span: Span) -> Expr | None:
        called = self._find_called(parts[:-1])
        if not called:
            return None
        source = called[0] if len(called) == 1 else self.find_source(parts[:-1], span)
        places = source.find_places(parts[-1])
        if len(places) > 1:
            raise AdqlSemanticError(
                f"{parts_to_text(parts)} names {len(places)} columns",
                span,
                "give the columns of the subquery different names",
            )
        return source.bind_column(places[0], span) if places else None

    def _find_called(self, qualifier: Parts) -> list[Source]:
        """Return the tables that a qualifier names; bare ones, which most columns have, are looked up once."""
        bare = qualifier[0]
        called = self._called.get((bare.name, bare.delimited)) if len(qualifier) == 1 else None
        if called is None:
            called = [source for source in self.sources if source.is_called(qualifier)]
            if len(qualifier) == 1:
                self._called[bare.name, bare.delimited] = called
        return called

    def _find_by_name(self, name: nodes.Identifier) -> list[Visible]:
        """Return the visible columns of the name, in any case."""
        key = name.name.lower()
        if self._merged is not None:
            return self._merged_by_name.get(key, [])
        places = [(source, place) for source in self.sources for place in source.places.get(key, ())]
        return [Visible(source.fields[place].name, source, place) for source, place in places]

    def _make_unknown_hint(self, name: nodes.Identifier, span: Span) -> Hint:
        """Return the way out for a bare name: the last of these that applies."""
        titles = {source.title.rpartition(".")[2].lower() for source in self.sources}
        if name.name.lower() in titles:
            hint = Hint(f"{name.name} is a table: name a column of it")
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


#: The least ratio (difflib) of two names that are taken for one
MIN_LIKENESS = 0.6

#: Among more names, only so many are compared, 10 to 30 microseconds each: those with the most common pairs of letters
_MAX_NAMES, _MAX_COMPARED = 200, 50


def is_same_name(identifier: nodes.Identifier, name: str) -> bool:
    """Whether it names ``name``: delimited identifiers are case-sensitive, regular ones not (ADQL 2.1, 2.1.3)."""
    return identifier.name == name if identifier.delimited else identifier.name.lower() == name.lower()


def find_close_name(name: str, known: Iterable[str], likeness: float = MIN_LIKENESS) -> str | None:
    """Return the one of ``known`` that is most like ``name``, ignoring case; None if none is."""
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
    """Return the hint ``did you mean x?`` with its fix, or no hint; ``known`` names as a query must write them."""
    close = find_close_name(name, known, likeness)
    return NO_HINT if close is None else make_name_hint(close, span)


def make_name_hint(name: str, span: Span, where: str = "") -> Hint:
    """Return the hint to write ``name`` in place of ``span``; ``where`` follows the name in the question."""
    return Hint(f"did you mean {name}{where}?", (Fix(span, name),))


def parts_to_text(parts: Sequence[nodes.Identifier]) -> str:
    """Return a qualified name as the user wrote it."""
    return ".".join(delimit(p.name) if p.delimited else p.name for p in parts)


def delimit(name: str) -> str:
    """Return the name as a delimited identifier."""
    return '"' + name.replace('"', '""') + '"'
