"""The part of a catalogue that some groups of users see: all tables except tables granted only to others. Pure.

A grant names a schema or a table, and the groups that see it. If there is a grant for a table, only this grant counts;
otherwise a table of latest versions has the grant of the table that it is made from, and other tables have the grant of
their schema. A kept match, which shows rows of both its tables, is visible only to users who see both. Without any
grant, everybody sees a table. A target that has lost its last group is seen by nobody: revoking a grant never makes
anything public. Case is ignored: a name that differs from a restricted name only in case is restricted too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from clickhouse_schema.catalogue import Catalogue, TableEntry
from clickhouse_schema.kept_match import find_matches_of
from clickhouse_schema.latest_versions import build_latest_table
from clickhouse_schema.quoting import quote_identifier, quote_string
from clickhouse_schema.reserved_words import name_to_adql
from clickhouse_schema.tap_schema import TAP_SCHEMA_NAME, build_key_id, table_name_to_adql

#: The group of all users, including anonymous clients
EVERYBODY = "everybody"

#: More rows than TAP_SCHEMA has
_ALL_ROWS = 1_000_000_000

#: Groups by target: ``schema`` or ``schema.table`` in lower case
Grants = Mapping[str, frozenset[str]]


def list_relevant_groups(grants: Grants, groups: Collection[str]) -> frozenset[str]:
    """Return the groups of a user that at least one grant names.

    Parameters
    ----------
    grants : Grants
        Groups by target.
    groups : collection of str
        All groups of the user.

    Returns
    -------
    frozenset of str
        The groups on which the visible tables depend.
    """
    return frozenset(groups) & frozenset().union(*grants.values())


def select_visible(catalogue: Catalogue, groups: frozenset[str]) -> Catalogue:
    """Return the catalogue as members of some groups see it.

    TAP_SCHEMA describes what they see, and foreign keys to hidden tables are left out.

    Parameters
    ----------
    catalogue : Catalogue
        The catalogue with all tables.
    groups : frozenset of str
        The groups of a user, and ``EVERYBODY``.

    Returns
    -------
    Catalogue
        The same object if the groups see all tables.
    """
    latest_of = _find_latest_tables(catalogue)
    hidden = [entry for entry in catalogue.entries if not _is_visible(entry, catalogue.grants, groups, latest_of)]
    matches = {
        (schema.name, table.name)
        for entry in hidden
        for schema, table in find_matches_of(catalogue.schemas, entry.qualified_name)
    }
    hidden += [e for e in catalogue.entries if (e.schema.name, e.table.name) in matches and e not in hidden]
    if not hidden:
        return catalogue
    hidden_names = {entry.qualified_name for entry in hidden}
    schemas = {}
    for schema in catalogue.schemas:
        tables = tuple(table for table in schema.tables if f"{schema.name}.{table.name}" not in hidden_names)
        if tables or not schema.tables:
            schemas[schema.name] = schema.model_copy(update={"tables": tables})
    lower_names = {name.lower() for name in hidden_names}
    entries = tuple(
        replace(
            entry,
            schema=schemas[entry.schema.name] if entry.schema.name != TAP_SCHEMA_NAME else entry.schema,
            hidden_keys=_find_hidden_keys(entry, lower_names),
        )
        for entry in catalogue.entries
        if entry.qualified_name not in hidden_names
    )
    visible = catalogue.select_entries(tuple(schemas.values()), entries)
    return visible.replace_entries(
        tuple(
            _restrict_tap_schema(entry, catalogue, hidden, visible)
            for entry in entries
            if entry.schema.name == TAP_SCHEMA_NAME
        )
    )


def _find_latest_tables(catalogue: Catalogue) -> dict[str, str]:
    """Return the name of the table that each table of latest versions is made from; in lower case."""
    found = {}
    for entry in catalogue.entries:
        if (latest := build_latest_table(entry.table)) is not None:
            found[f"{entry.schema.name}.{latest.name}".lower()] = entry.qualified_name.lower()
    return found


def _is_visible(entry: TableEntry, grants: Grants, groups: frozenset[str], latest_of: Mapping[str, str]) -> bool:
    if entry.schema.name == TAP_SCHEMA_NAME:
        return True
    name = entry.qualified_name.lower()
    for target in (name, latest_of.get(name, ""), entry.schema.name.lower()):
        if target in grants:
            return EVERYBODY in grants[target] or not groups.isdisjoint(grants[target])
    return True


def _find_hidden_keys(entry: TableEntry, hidden: Collection[str]) -> frozenset[str]:
    return frozenset(key.name for key in entry.table.keys if key.referenced_table.lower() in hidden)


def _restrict_tap_schema(
    entry: TableEntry, whole: Catalogue, hidden: list[TableEntry], visible: Catalogue
) -> TableEntry:
    """Return a table of TAP_SCHEMA without the rows about hidden tables, and without gaps in their numbers."""
    tables = [table_name_to_adql(each) for each in hidden]
    hidden_names = {each.qualified_name for each in hidden}
    lower_names = {name.lower() for name in hidden_names}
    keys = [
        build_key_id(each, key)
        for each in whole.entries
        for key in each.table.keys
        if each.qualified_name in hidden_names or key.name in _find_hidden_keys(each, lower_names)
    ]
    kept = {schema.name for schema in visible.schemas}
    schemas = [name_to_adql(schema.name) for schema in whole.schemas if schema.name not in kept]
    unwanted = {"schemas": ("schema_name", schemas), "keys": ("key_id", keys), "key_columns": ("key_id", keys)}
    column, names = unwanted.get(entry.table.name, ("table_name", tables))
    schema_indexes = [i for i, schema in enumerate(whole.schemas) if schema.name not in kept]
    table_indexes = [i for i, each in enumerate(whole.entries) if each.qualified_name in hidden_names]
    given = [table_name_to_adql(each) for each in visible.entries if each.table.table_index is not None]
    written = {
        "schema_index": _close_gaps("schema_index", schema_indexes),
        "table_index": f"if(table_name IN ({_quote_all(given)}), table_index, "
        f"{_close_gaps('table_index', table_indexes)})",
    }
    # other names, because a computed column would replace the stored column in the condition
    own = written if entry.table.name in ("schemas", "tables") else {}
    selected = ", ".join(
        f"{own.get(each.name, quote_identifier(each.name))} AS {quote_identifier(each.name + '_')}"
        for each in entry.table.columns
    )
    renamed = ", ".join(
        f"{quote_identifier(each.name + '_')} AS {quote_identifier(each.name)}" for each in entry.table.columns
    )
    # ClickHouse moves no condition of the query below a LIMIT: an error in a condition could reveal a hidden row
    rows = f"SELECT {selected} FROM {entry.storage_sql} WHERE {column} NOT IN ({_quote_all(names)}) LIMIT {_ALL_ROWS}"
    return replace(entry, rows=_count_rows(entry.table.name, visible), stored_sql=f"(SELECT {renamed} FROM ({rows}))")


def _close_gaps(column: str, positions: list[int]) -> str:
    """Return the SQL of the numbers of a list after the elements at ``positions`` have been removed."""
    if not positions:
        return column
    return f"toInt32({column} - arrayCount(gap -> gap < {column}, [{', '.join(map(str, positions))}]))"


def _quote_all(names: Iterable[str]) -> str:
    return ", ".join(map(quote_string, names)) or "NULL"


def _count_rows(name: str, visible: Catalogue) -> int:
    keys = [key for each in visible.entries for key in each.published_keys]
    return {
        "schemas": len(visible.schemas),
        "tables": len(visible.entries),
        "columns": sum(len(each.table.columns) for each in visible.entries),
        "keys": len(keys),
        "key_columns": sum(len(key.columns) for key in keys),
    }[name]
