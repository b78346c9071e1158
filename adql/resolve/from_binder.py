"""FROM clauses: tables found in the catalogue or in WITH, and joined; what they show to the query."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, NamedTuple

from adql.errors import AdqlSemanticError, Hint, Span
from adql.ir import Call, Derived, Expr, Join, Literal, Output, Query, Relation, Scan, Select
from adql.resolve.scope import Scope, Source, Visible, meant, same_name, suggestion, visible_columns, written
from adql.resolve.type_rules import common_type
from adql.syntax import nodes
from adql.syntax.hints.other_dialects import find_table_hint
from clickhouse_schema.catalogue import TableEntry
from clickhouse_schema.datatypes import BOOLEAN, DOUBLE, LONG, ColumnType
from clickhouse_schema.reserved_words import name_to_adql

if TYPE_CHECKING:
    from adql.resolve.query_binder import Queries

_JOIN_CONDITIONS = (
    "write ON condition or USING (columns) after the table, NATURAL JOIN to join on all common columns, or CROSS JOIN"
    " to pair all rows"
)


class Side(NamedTuple):
    """One side of a join."""

    relation: Relation
    sources: list[Source]
    visible: list[Visible]


class Tables:
    """Binds the FROM clauses of a statement; ``queries`` binds the subqueries in them."""

    def __init__(self, queries: Queries) -> None:
        self.queries = queries
        self.context = queries.context
        self.open: list[str] = []  # the WITH tables that are being bound, the innermost last

    def from_clause(self, references: tuple[nodes.TableReference, ...], parent: Scope | None) -> tuple[Relation, Scope]:
        relation, sources, visible = self._table(references[0], parent)
        for reference in references[1:]:
            right, more, also = self._table(reference, parent)
            relation, sources, visible = Join("INNER", relation, right, None), sources + more, visible + also
        _check_aliases(sources, references)
        return relation, Scope(sources, visible, parent, self.context.fresh)

    def _table(self, node: nodes.TableReference, parent: Scope | None) -> tuple[Relation, list[Source], list[Visible]]:
        if isinstance(node, nodes.Join):
            return self._join(node, parent)
        if isinstance(node, nodes.DerivedTable):
            query = self.queries.inner(node.query, parent)
            return self._derived(query, node.alias, node.span)
        assert isinstance(node, nodes.TableName)  # noqa: S101  there are three kinds
        common = self.queries.common.get(node.parts[0].name.lower()) if len(node.parts) == 1 else None
        if common is not None and same_name(node.parts[0], common.name.name) and self.is_defined(common, node.span):
            if node.sample is not None:
                raise AdqlSemanticError(
                    "TABLESAMPLE takes a table of the catalogue", node.sample.span, "sample it in WITH"
                )
            return self._common(common, node)
        entry = self.entry(node.parts, node.span)
        source = self.source(self.context.next_relation(node.span), node, entry)
        if node.sample is not None:
            query = self._sampled(entry, node.sample)
            source.outputs = query.outputs
            return Derived(source.relation, query), [source], visible_columns(source)
        return Scan(source.relation, entry, span=node.span), [source], visible_columns(source)

    def source(self, relation: int, node: nodes.TableName, entry: TableEntry) -> Source:
        return Source(relation, node.alias, entry)

    def _sampled(self, entry: TableEntry, sample: nodes.Sample) -> Select:
        """The table's rows whose hash, of its id or else of all columns, is low enough: the same ones each time."""
        scanned = Source(self.context.next_relation(sample.span), None, entry)
        rows = [scanned.column(place, sample.span) for place in range(len(entry.fields))]
        keys = [column for column in rows if column.name in entry.table.layout.id] or rows
        chosen = Call(BOOLEAN, "SAMPLED", (Literal(DOUBLE, sample.percent), Literal(LONG, sample.seed), *keys))
        outputs = tuple(Output(self.context.fresh.new_alias(), column, column.field) for column in rows)
        return Select(Scan(scanned.relation, entry), chosen, (), None, outputs, False, (), None, 0)

    def _derived(
        self, query: Query, alias: nodes.Identifier, span: Span
    ) -> tuple[Relation, list[Source], list[Visible]]:
        source = Source(self.context.next_relation(span), alias, outputs=query.outputs)
        return Derived(source.relation, query), [source], visible_columns(source)

    def is_defined(self, table: nodes.CommonTable, span: Span) -> bool:
        """Whether a WITH table may be used here: a later one may not, and none uses itself."""
        names = list(self.queries.common)
        inside = self.open[-1] if self.open else None
        if inside is None:
            return True
        name = table.name.name.lower()
        if name == inside and self.context.catalogue.find_tables(table.name.name, table.name.delimited):
            return False  # a WITH table of the name of a stored one
        if name == inside:
            raise AdqlSemanticError(f"WITH table {table.name.name} uses itself", span, "ADQL has no recursive WITH")
        return names.index(name) < names.index(inside)

    def _common(self, table: nodes.CommonTable, node: nodes.TableName) -> tuple[Relation, list[Source], list[Visible]]:
        self.open.append(table.name.name.lower())
        query = self.queries.inner(table.query, None)
        self.open.pop()
        return self._derived(query, node.alias or table.name, node.span)

    def entry(self, parts: tuple[nodes.Identifier, ...], span: Span) -> TableEntry:
        found: tuple[TableEntry, ...] = ()
        catalogue = self.context.catalogue
        if len(parts) == 1:
            found = catalogue.find_tables(parts[0].name, parts[0].delimited)
        elif len(parts) == 2:
            found = catalogue.find_tables(parts[1].name, parts[1].delimited, parts[0].name, parts[0].delimited)
        if len(found) == 1:
            self.context.tables[found[0].qualified_name] = found[0]
            return found[0]
        if found:
            titles = " and ".join(e.qualified_name for e in found)
            raise AdqlSemanticError(
                f"table {written(parts)} is ambiguous: there is {titles}", span, "put the schema's name before it"
            )
        raise self._unknown(parts, span)

    def _unknown(self, parts: tuple[nodes.Identifier, ...], span: Span) -> AdqlSemanticError:
        entries = self.context.catalogue.entries
        last, here = parts[-1].name.lower(), parts[0].span.extend_to(parts[-1].span)
        by_table = {e.table.name.lower(): _published(e) for e in entries}
        hint = meant(by_table[last], here) if last in by_table else find_table_hint(written(parts))
        if parts[0].name.upper() == "TAP_UPLOAD":
            uploaded = [_published(e) for e in entries if e.schema.name.upper() == "TAP_UPLOAD"]
            hint = hint or suggestion(written(parts), uploaded, here)
            hint = hint or Hint(f"a table that is uploaded comes with the query: UPLOAD={parts[-1].name},...")
        hint = hint or suggestion(written(parts), [_published(e) for e in entries], here)
        if not hint and (close := get_close_matches(last, by_table, n=1)):
            hint = meant(by_table[close[0]], here)
        return AdqlSemanticError(
            f"there is no table {written(parts)}", span, hint or "TAP_SCHEMA.tables lists the tables"
        )

    def _join(self, node: nodes.Join, parent: Scope | None) -> tuple[Relation, list[Source], list[Visible]]:
        left, right = Side(*self._table(node.left, parent)), Side(*self._table(node.right, parent))
        sources = left.sources + right.sources
        _mark_optional(node.kind, left.sources, right.sources)
        shared = self.shared_names(node, left, right)
        if shared is not None:
            merged, visible = self._merge(node, shared, left.visible, right.visible)
            return Join(node.kind, left.relation, right.relation, merged), sources, visible
        visible = left.visible + right.visible
        condition: Expr | None = None
        if node.on is not None:
            scope = Scope(sources, visible, parent, self.context.fresh)
            with self.context.collect():
                condition = self.queries.binder(self.queries, scope, "ON").condition(node.on)
        elif node.kind != "CROSS" and not (node.using or node.natural):
            raise AdqlSemanticError(f"this {node.kind} JOIN has no condition", node.right.span, _JOIN_CONDITIONS)
        kind = "INNER" if node.kind == "CROSS" else node.kind
        return Join(kind, left.relation, right.relation, condition), sources, visible

    def _merge(
        self, node: nodes.Join, names: list[nodes.Identifier], left: list[Visible], right: list[Visible]
    ) -> tuple[Expr, list[Visible]]:
        """Equality of the shared columns, and the columns in SQL's order: shared ones once, then each side's rest."""
        parts, merged = [], []
        taken: set[int] = set()
        for name in names:
            a, b = _side(name, left, "left"), _side(name, right, "right")
            taken |= {id(a), id(b)}
            x, y = a.bind(name.span), b.bind(name.span)
            kind = self.merged_type(x, y, name)
            parts.append(Call(BOOLEAN, "=", (x, y), span=name.span))
            shown = {"RIGHT": y, "FULL": Call(kind, "COALESCE", (x, y), span=name.span)}.get(node.kind, x)
            merged.append(Visible(a.name, merged=shown))
        rest = [v for v in (*left, *right) if id(v) not in taken]
        condition = parts[0] if len(parts) == 1 else Call(BOOLEAN, "AND", tuple(parts))
        return condition, merged + rest

    def merged_type(self, left: Expr, right: Expr, name: nodes.Identifier) -> ColumnType:
        """Of the one column that USING or NATURAL makes of two."""
        return common_type([left, right], f"column {name.name} of the join", name.span)

    def shared_names(self, node: nodes.Join, left: Side, right: Side) -> list[nodes.Identifier] | None:
        """The join columns of USING or NATURAL; None for other joins."""
        if node.using:
            return list(node.using)
        if not node.natural:
            return None
        names = {v.name.lower() for v in right.visible}
        shared = [v.name for v in left.visible if v.name.lower() in names]
        if not shared:
            raise AdqlSemanticError("NATURAL JOIN of tables without a common column", node.span, "write JOIN ... ON")
        return [nodes.Identifier(node.span, name, False) for name in dict.fromkeys(shared)]


def _published(entry: TableEntry) -> str:
    """The table's name as a query must write it."""
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
                "give each its own alias: FROM t AS a JOIN t AS b",
            )
        seen.add(title)


# --- joins ------------------------------------------------------------------------------------------------------------


def _mark_optional(kind: str, left: list[Source], right: list[Source]) -> None:
    """The side of an outer join that may have no row gives NULLs."""
    if kind in ("LEFT", "FULL"):
        for source in right:
            source.optional = True
    if kind in ("RIGHT", "FULL"):
        for source in left:
            source.optional = True


def _side(name: nodes.Identifier, visible: list[Visible], side: str) -> Visible:
    found = [v for v in visible if same_name(name, v.name)]
    if not found:
        hint = suggestion(name.name, [name_to_adql(v.name) for v in visible], name.span)
        raise AdqlSemanticError(f"there is no column {written([name])} on the {side} side of the join", name.span, hint)
    if len(found) > 1:
        raise AdqlSemanticError(
            f"column {written([name])} is {len(found)} times on the {side} side of the join", name.span
        )
    return found[0]
