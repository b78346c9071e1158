"""Binding of FROM clauses: catalogue tables, WITH tables, derived tables and joins, and their visible columns."""

from __future__ import annotations

from typing import NamedTuple

from adql.errors import AdqlSemanticError, AdqlUnsupported, Hint, Span
from adql.ir import Call, Derived, Expr, Join, Literal, Output, Query, Relation, Scan, Select, combine_conjuncts
from adql.limits import MAX_WITH_DEPTH
from adql.resolve.binder import Queries
from adql.resolve.scope import (
    Scope,
    Source,
    Visible,
    find_close_name,
    is_same_name,
    list_visible,
    make_name_hint,
    parts_to_text,
    suggest_name,
)
from adql.resolve.type_rules import find_common_type
from adql.syntax import nodes
from adql.syntax.hints.other_dialects import find_table_hint
from clickhouse_schema.catalogue import TableEntry
from clickhouse_schema.datatypes import BOOLEAN, DOUBLE, LONG, ColumnType
from clickhouse_schema.reserved_words import name_to_adql

_JOIN_CONDITIONS = (
    "write ON condition or USING (columns) after the table, NATURAL JOIN to join on all common columns, or CROSS JOIN"
    " to pair all rows"
)


class Side(NamedTuple):
    """A part of a FROM clause, such as one side of a join.

    Attributes
    ----------
    relation
        The bound table or join.
    sources
        Its tables.
    merged
        The columns in the order of SELECT * if USING or NATURAL has merged some; None for all columns of the tables.
    """

    relation: Relation
    sources: list[Source]
    merged: list[Visible] | None = None

    @property
    def visible(self) -> list[Visible]:
        return list_visible(self.sources) if self.merged is None else self.merged

    def join_columns(self, right: Side) -> list[Visible] | None:
        """Return ``merged`` of a join with ``right`` that merges no columns."""
        return None if self.merged is None and right.merged is None else self.visible + right.visible


class FromBinder:
    """Binds the FROM clauses of a statement. ``queries`` binds the subqueries in them."""

    def __init__(self, queries: Queries) -> None:
        self.queries = queries
        self.resolution = queries.resolution
        self.open_tables: list[str] = []  # the names of the WITH tables that are being bound, the innermost last

    def bind_from(self, references: tuple[nodes.TableReference, ...], parent: Scope | None) -> tuple[Relation, Scope]:
        side = self._bind_reference(references[0], parent)
        for reference in references[1:]:
            right = self._bind_reference(reference, parent)
            relation = Join("INNER", side.relation, right.relation, None)
            side = Side(relation, side.sources + right.sources, side.join_columns(right))
        _check_aliases(side.sources, references)
        return side.relation, Scope(side.sources, side.merged, parent)

    def _bind_reference(self, node: nodes.TableReference, parent: Scope | None) -> Side:
        if isinstance(node, nodes.Join):
            return self._bind_join(node, parent)
        if isinstance(node, nodes.DerivedTable):
            query = self.queries.bind_inner_query(node.query, parent)
            return self._derive_side(query, node.alias, node.span)
        assert isinstance(node, nodes.TableName)  # noqa: S101  there are three kinds
        common = self._find_common_table(node)
        if common is None:
            return self._bind_table(node)
        if node.sample is not None:
            raise AdqlSemanticError(
                "TABLESAMPLE takes a table of the catalogue",
                node.sample.span,
                "sample a table of the catalogue in WITH",
            )
        return self._bind_common_table(common, node)

    # --- tables

    def _bind_table(self, node: nodes.TableName) -> Side:
        entry = self.find_entry(node.parts, node.span)
        source = self.make_source(self.resolution.new_relation(node.span), node, entry)
        relation: Relation = Scan(source.relation, entry, span=node.span)
        if node.sample is not None:
            query = self._sample_table(entry, node.sample)
            source.outputs = query.outputs
            relation = Derived(source.relation, query)
        return Side(relation, [source])

    def make_source(self, relation: int, node: nodes.TableName, entry: TableEntry) -> Source:
        return Source(relation, node.alias, entry)

    def _sample_table(self, entry: TableEntry, sample: nodes.Sample) -> Select:
        """Return the query of a sample: the rows whose hash of the id, or else of all columns, is low enough.

        It has the same rows each time.
        """
        scanned = Source(self.resolution.new_relation(sample.span), None, entry)
        columns = [scanned.bind_column(index, sample.span) for index in range(len(entry.fields))]
        keys = [column for column in columns if column.name in entry.table.layout.id] or columns
        percent, seed = Literal(DOUBLE, sample.percent), Literal(LONG, sample.seed)
        chosen = Call(BOOLEAN, "SAMPLED", (percent, seed, *keys))
        outputs = tuple(Output(self.resolution.names.new_alias(), column, column.field) for column in columns)
        return Select(Scan(scanned.relation, entry), chosen, (), None, outputs, False, (), None, 0)

    def _derive_side(self, query: Query, alias: nodes.Identifier, span: Span) -> Side:
        source = Source(self.resolution.new_relation(span), alias, outputs=query.outputs)
        return Side(Derived(source.relation, query), [source])

    def find_entry(self, parts: tuple[nodes.Identifier, ...], span: Span) -> TableEntry:
        found: tuple[TableEntry, ...] = ()
        catalogue = self.resolution.catalogue
        if len(parts) == 1:
            found = catalogue.find_tables(parts[0].name, parts[0].delimited)
        elif len(parts) == 2:
            schema, table = parts
            found = catalogue.find_tables(table.name, table.delimited, schema.name, schema.delimited)
        if len(found) == 1:
            self.resolution.tables[found[0].qualified_name] = found[0]
            return found[0]
        if found:
            titles = " or ".join(e.qualified_name for e in found)
            hint = "qualify it with the schema's name" if len(parts) == 1 else "write the schema in double quotes"
            raise AdqlSemanticError(f"table {parts_to_text(parts)} is ambiguous: it may be {titles}", span, hint)
        unknown_hint = self._make_unknown_hint(parts) or "TAP_SCHEMA.tables lists the tables"
        raise AdqlSemanticError(f"there is no table {parts_to_text(parts)}", span, unknown_hint)

    def _make_unknown_hint(self, parts: tuple[nodes.Identifier, ...]) -> Hint:
        entries = self.resolution.catalogue.entries
        name, table = parts_to_text(parts), parts[-1].name.lower()
        here = parts[0].span.extend_to(parts[-1].span)
        by_table = {e.table.name.lower(): _entry_to_adql(e) for e in entries}
        hint = make_name_hint(by_table[table], here) if table in by_table else find_table_hint(name)
        if parts[0].name.upper() == "TAP_UPLOAD":
            uploaded = [_entry_to_adql(e) for e in entries if e.schema.name.upper() == "TAP_UPLOAD"]
            hint = hint or suggest_name(name, uploaded, here)
            hint = hint or Hint(f"upload the table with the query: UPLOAD={parts[-1].name},...")
        hint = hint or suggest_name(name, [_entry_to_adql(e) for e in entries], here)
        if not hint and (close := find_close_name(table, by_table)):
            hint = make_name_hint(by_table[close], here)
        return hint

    # --- WITH

    def _find_common_table(self, node: nodes.TableName) -> nodes.CommonTable | None:
        if len(node.parts) > 1:
            return None
        [name] = node.parts
        common = self.resolution.common_tables.get(name.name.lower())
        if common is None or not is_same_name(name, common.name.name):
            return None
        return common if self.is_defined(common, node.span) else None

    def is_defined(self, table: nodes.CommonTable, span: Span) -> bool:
        """Return whether a WITH table may be used here: not in itself, and not in an earlier WITH table."""
        if not self.open_tables:
            return True
        name, inside = table.name.name.lower(), self.open_tables[-1]
        if name == inside and self.resolution.catalogue.find_tables(table.name.name, table.name.delimited):
            return False  # a stored table of the same name is meant
        if name == inside:
            raise AdqlSemanticError(f"WITH table {table.name.name} uses itself", span, "ADQL has no recursive WITH")
        names = list(self.resolution.common_tables)
        return names.index(name) < names.index(inside)

    def _bind_common_table(self, table: nodes.CommonTable, node: nodes.TableName) -> Side:
        if len(self.open_tables) == MAX_WITH_DEPTH:
            raise AdqlUnsupported(
                f"more than {MAX_WITH_DEPTH} WITH tables use one another in a chain",
                node.span,
                "combine some of them",
            )
        self.open_tables.append(table.name.name.lower())
        query = self.queries.bind_inner_query(table.query, None)
        self.open_tables.pop()
        return self._derive_side(query, node.alias or table.name, node.span)

    # --- joins

    def _bind_join(self, node: nodes.Join, parent: Scope | None) -> Side:
        left, right = self._bind_reference(node.left, parent), self._bind_reference(node.right, parent)
        sources = left.sources + right.sources
        _mark_optional(node.kind, left.sources, right.sources)
        shared = self.find_shared_names(node, left, right)
        if shared is not None:
            equalities, shown = self._merge_columns(node, shared, left.visible, right.visible)
            return Side(Join(node.kind, left.relation, right.relation, equalities), sources, shown)
        merged = left.join_columns(right)
        condition: Expr | None = None
        if node.on is not None:
            scope = Scope(sources, merged, parent)
            with self.resolution.collect_errors():
                condition = self.queries.make_binder(scope, "ON").bind_condition(node.on)
        elif node.kind != "CROSS" and not (node.using or node.natural):
            raise AdqlSemanticError(f"this {node.kind} JOIN has no condition", node.right.span, _JOIN_CONDITIONS)
        kind = "INNER" if node.kind == "CROSS" else node.kind
        return Side(Join(kind, left.relation, right.relation, condition), sources, merged)

    def _merge_columns(
        self, node: nodes.Join, names: list[nodes.Identifier], left: list[Visible], right: list[Visible]
    ) -> tuple[Expr | None, list[Visible]]:
        """Return the condition, and the columns in SQL's order: the shared columns, once each, then the others."""
        equalities: list[Expr] = []
        merged: list[Visible] = []
        taken: set[int] = set()
        for name in names:
            a, b = _find_on_side(name, left, "left"), _find_on_side(name, right, "right")
            taken |= {id(a), id(b)}
            x, y = a.bind(name.span), b.bind(name.span)
            kind = self.find_merged_type(x, y, name)
            equalities.append(Call(BOOLEAN, "=", (x, y), span=name.span))
            shown = y if node.kind == "RIGHT" else x
            if node.kind == "FULL":
                shown = Call(kind, "COALESCE", (x, y), span=name.span)
            merged.append(Visible(a.name, merged=shown))
        rest = [v for v in (*left, *right) if id(v) not in taken]
        return combine_conjuncts(equalities), merged + rest

    def find_merged_type(self, left: Expr, right: Expr, name: nodes.Identifier) -> ColumnType:
        """Return the type of the column into which USING or NATURAL merges two columns."""
        return find_common_type([left, right], f"column {name.name} of the join", name.span)

    def find_shared_names(self, node: nodes.Join, left: Side, right: Side) -> list[nodes.Identifier] | None:
        """Return the join columns of USING or NATURAL; None for other joins."""
        if node.using:
            return list(node.using)
        if not node.natural:
            return None
        names = {v.name.lower() for v in right.visible}
        shared = [v.name for v in left.visible if v.name.lower() in names]
        if not shared:
            raise AdqlSemanticError("NATURAL JOIN of tables without a common column", node.span, "write JOIN ... ON")
        return [nodes.Identifier(node.span, name, False) for name in dict.fromkeys(shared)]


def _entry_to_adql(entry: TableEntry) -> str:
    """Return the name of a table as a query must write it."""
    return f"{name_to_adql(entry.schema.name)}.{name_to_adql(entry.table.name)}"


def _check_aliases(sources: list[Source], references: tuple[nodes.TableReference, ...]) -> None:
    seen: set[str] = set()
    for source in sources:
        title = source.title.lower()
        if title in seen:
            span = source.alias.span if source.alias else references[0].span.extend_to(references[-1].span)
            raise AdqlSemanticError(
                f"two tables are called {source.title} in this FROM clause",
                span,
                "give each table its own alias: FROM t AS a JOIN t AS b",
            )
        seen.add(title)


def _mark_optional(kind: str, left: list[Source], right: list[Source]) -> None:
    """Mark the tables of an outer join whose columns are NULL for rows without a match."""
    if kind in ("LEFT", "FULL"):
        for source in right:
            source.is_optional = True
    if kind in ("RIGHT", "FULL"):
        for source in left:
            source.is_optional = True


def _find_on_side(name: nodes.Identifier, visible: list[Visible], side: str) -> Visible:
    found = [v for v in visible if is_same_name(name, v.name)]
    if len(found) == 1:
        return found[0]
    text = parts_to_text([name])
    if found:
        raise AdqlSemanticError(f"column {text} occurs {len(found)} times on the {side} side of the join", name.span)
    hint = suggest_name(name.name, [name_to_adql(v.name) for v in visible], name.span)
    raise AdqlSemanticError(f"there is no column {text} on the {side} side of the join", name.span, hint)
