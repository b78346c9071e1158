"""``skyhouse schema``: compares the engine with a schema file, and changes the engine while the service runs.

Missing tables, columns and indexes are added; no rows are loaded:

    storage of each table (``clickhouse_schema.schema_drift``) -> the table's comment -> the catalogue

Each step may be repeated, and only the next step needs it: a reader sees the old catalogue, or a table that matches the
new one. Tables that the file does not mention do not change, nor do units, UCDs, utypes and descriptions from data
files if the schema file has none.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from clickhouse_schema.catalogue import Catalogue, TableEntry
from clickhouse_schema.cluster_topology import Topology, read_topology
from clickhouse_schema.engine_tables.catalogue_log import read_catalogue, read_registered, register_table
from clickhouse_schema.engine_tables.density_table import update_density
from clickhouse_schema.latest_versions import build_latest_table
from clickhouse_schema.quoting import quote_table
from clickhouse_schema.schema_drift import RELOAD_HINT, Drift, Step, find_drift
from clickhouse_schema.schema_files.yaml_reader import check_schema
from clickhouse_schema.schema_model import Column, Schema, Table
from clickhouse_schema.schema_problem import SchemaError
from clickhouse_schema.servers import Servers
from clickhouse_schema.shard_map import LOCAL
from loaders.cluster.orphan_tables import find_orphan_tables
from loaders.load_error import LoadError
from loaders.pipeline.append_rows import TableAppends
from loaders.pipeline.load_plan import complete_column
from loaders.pipeline.storage_choice import choose_storage
from loaders.progress_reporter import Reporter
from loaders.storage.load_state import TableState
from loaders.storage.stored_table import read_table_state, state_to_sql
from tap_service.storage.engine.engine import Engine

#: Layout keys that determine which servers have a row
_SHARDING_KEYS = ("parent", "everywhere", "overlap_radius")


@dataclass(frozen=True, slots=True)
class _Difference:
    """The differences of a table between the catalogue (``entry``) and the file (``wanted``)."""

    wanted: Table
    base_name: str
    entry: TableEntry | None
    drift: Drift
    catalogue_steps: tuple[Step, ...]

    @property
    def steps(self) -> tuple[Step, ...]:
        return (*self.drift.steps, *self.catalogue_steps)


def print_schema_plan(engine: Engine, schema_file: Path, reporter: Reporter) -> None:
    """Report the statements that ``apply_schema`` would execute, with comments.

    Tables that take columns from a missing file are only named; ``apply_schema`` rejects them.

    Parameters
    ----------
    engine : Engine
        The engine.
    schema_file : Path
        The schema file.
    reporter : Reporter
        Receives the statements.

    Raises
    ------
    LoadError
        The file cannot be used, or differences cannot be applied to existing tables.
    """
    schema, unknown = _read_tables(schema_file, reporter, partial=True)
    differences = _compare_schema(engine, schema)
    steps = [step for difference in differences for step in difference.steps]
    is_cluster = read_topology(engine).is_cluster
    for step in steps:
        lines = (f"{sql};  -- on {target.value}" if is_cluster else f"{sql};" for sql, target in step.sql)
        reporter.output("\n".join([f"-- {step.description}", *lines]))
    for line in unknown:
        reporter.output(f"-- {line}")
    if not (steps or unknown):
        reporter.output(f"-- the engine matches {schema_file}")
    _refuse_obstacles(differences)


def print_schema_differences(engine: Engine, schema_file: Path, reporter: Reporter) -> None:
    """Report the differences between the engine and a schema file. Raises ``LoadError`` if there are any."""
    schema, unknown = _read_tables(schema_file, reporter, partial=True)
    differences = _compare_schema(engine, schema)
    lines = [step.description for difference in differences for step in difference.steps]
    lines += [obstacle for difference in differences for obstacle in difference.drift.obstacles]
    lines += unknown
    for line in lines:
        reporter.output(line)
    if lines:
        raise LoadError(f"the engine does not match {schema_file}: {len(lines)} differences")
    reporter.output(f"the engine matches {schema_file}")


def apply_schema(engine: Engine, schema_file: Path, reporter: Reporter) -> None:
    """Change the engine to match a schema file.

    Parameters
    ----------
    engine : Engine
        The engine.
    schema_file : Path
        The schema file.
    reporter : Reporter
        Receives a line for each change.

    Raises
    ------
    LoadError
        The file cannot be used, or some changes are impossible; nothing has changed.
    """
    schema, _ = _read_tables(schema_file, reporter)
    differences = _compare_schema(engine, schema)
    _refuse_obstacles(differences)
    servers = Servers(engine)
    # all replicas get a change before the catalogue does; a cluster does not wait for indexes of existing rows
    settings = {"alter_sync": 2} | ({"mutations_sync": 0} if servers.topology.is_cluster else {})
    for difference in differences:
        reporter.check()
        for step in difference.steps:
            reporter.output(step.description)
            for statement in step.sql:
                servers.execute_statement(statement, settings)
        if difference.steps:
            _publish_table(servers, schema, difference)
    if not any(difference.steps for difference in differences):
        reporter.output(f"the engine matches {schema_file}")


def _refuse_obstacles(differences: list[_Difference]) -> None:
    obstacles = [obstacle for difference in differences for obstacle in difference.drift.obstacles]
    if obstacles:
        raise LoadError("nothing was changed, because these changes need a new load:\n" + "\n".join(obstacles))


def _publish_table(servers: Servers[Engine], schema: Schema, difference: _Difference) -> None:
    engine, table = servers.engine, difference.wanted
    entry = schema.model_copy(update={"tables": (table,)})
    name = difference.base_name + (LOCAL if servers.topology.is_cluster and table.is_sharded else "")
    state = read_table_state(engine, schema.name, name) or TableState(
        fingerprint="", verified=True, entry=entry, origin=secrets.token_hex(16)
    )
    version, _ = read_registered(engine, schema.name, table.name)
    comment = state_to_sql(state.model_copy(update={"entry": entry, "catalogue": version}))
    servers.execute_everywhere(f"ALTER TABLE {quote_table(schema.name, name)} MODIFY COMMENT {comment}")
    old_layout = difference.entry.table.layout if difference.entry else None
    if old_layout is None or old_layout.healpix_order != table.layout.healpix_order:
        update_density(engine, schema.name, table, difference.base_name)
    register_table(engine, schema, table, None if difference.entry else 0)


# --- the comparison ---------------------------------------------------------------------------------------------------


def _read_tables(schema_file: Path, reporter: Reporter, *, partial: bool = False) -> tuple[Schema, list[str]]:
    """Return the schema, and a line for each table that is left out because its file is missing."""
    try:
        found = check_schema(schema_file, partial=partial)
        schema = found.require_schema()
    except SchemaError as error:
        raise LoadError(str(error)) from error
    for warning in found.warnings:
        reporter.message(f"warning: {warning}")
    return schema, [
        f"{schema.name}.{lack.name} is unknown: {len(lack.columns):,} columns are in {lack.uri}, which is missing"
        for lack in found.incomplete
    ]


def _compare_schema(engine: Engine, schema: Schema) -> list[_Difference]:
    catalogue = read_catalogue(engine)
    servers = Servers(engine)
    tables = [*schema.tables, *_list_latest_tables(catalogue, schema)]
    return [_compare_table(servers, catalogue, schema, table) for table in tables]


def _list_latest_tables(catalogue: Catalogue, schema: Schema) -> Iterator[Table]:
    """Yield the tables of latest versions, which have the same columns and indexes as their tables."""
    for table in schema.tables:
        entry = catalogue.find_entry(schema.name, table.name)
        latest = build_latest_table(_complete_table(table, entry))
        if latest is not None and (entry is None or entry.table.layout.versions is not None):
            yield latest


def _compare_table(servers: Servers[Engine], catalogue: Catalogue, schema: Schema, table: Table) -> _Difference:
    entry = catalogue.find_entry(schema.name, table.name)
    wanted = _complete_table(table, entry)
    base_name = _find_base_name(catalogue, table, entry)
    name = f"{schema.name}.{table.name}"
    obstacle = _find_layout_obstacle(servers.topology, name, wanted, entry)
    if obstacle:
        return _Difference(wanted, base_name, entry, Drift((), (obstacle,)), ())
    if entry is None:
        catalogue_steps: tuple[Step, ...] = (Step(f"{name} is not in the catalogue", ()),)
    else:
        catalogue_steps = _compare_catalogue(schema, wanted, entry)
    drift = _find_stopped_load(servers, catalogue, schema, wanted, entry)
    drift = drift or find_drift(servers.engine, servers.topology, schema.name, wanted, base_name)
    return _Difference(wanted, base_name, entry, drift, catalogue_steps)


def _find_base_name(catalogue: Catalogue, table: Table, entry: TableEntry | None) -> str:
    if entry:
        return entry.engine_table[1]
    if catalogue.sharding is not None:
        return catalogue.sharding.base_name(table.name, is_sharded=table.is_sharded)
    return table.name


def _find_layout_obstacle(topology: Topology, name: str, wanted: Table, entry: TableEntry | None) -> str:
    """Return why the layout cannot be changed; '' if it can."""
    if wanted.match != (entry.table.match if entry else None):
        return f"skyhouse:match of {name} determines which pairs it has: create it with skyhouse match make"
    if entry is None:
        return ""
    if entry.attached is not None:
        return f"{name} is attached: describe it again with skyhouse attach --refresh --table {name} --schema"
    changed = _find_changed_sharding(entry.table, wanted) if topology.is_cluster else []
    if changed:
        return f"{', '.join(changed)} of {name} determines on which servers its rows are: {RELOAD_HINT}"
    if entry.table.layout.versions != wanted.layout.versions:
        return f"versions of {name} determines which rows are the latest: {RELOAD_HINT}"
    if entry.table.layout.position != wanted.layout.position:
        return f"position of {name} determines the index of its rows: {RELOAD_HINT}"
    return ""


def _find_changed_sharding(table: Table, wanted: Table) -> list[str]:
    keys = [key for key in _SHARDING_KEYS if getattr(table.layout, key) != getattr(wanted.layout, key)]
    return [*keys, *(["position"] if table.is_sharded != wanted.is_sharded and not keys else [])]


def _find_stopped_load(
    servers: Servers[Engine], catalogue: Catalogue, schema: Schema, wanted: Table, entry: TableEntry | None
) -> Drift | None:
    """Return a stopped load as an obstacle: its rows match the table before the change."""
    name = f"{schema.name}.{wanted.name}"
    if entry is None:
        if servers.topology.is_cluster and find_orphan_tables(servers, schema.name, wanted.name).is_filled:
            return Drift((), (f"a load or drop of {name} was stopped: start it again, or skyhouse drop {name}",))
        return None
    if wanted.columns == entry.table.columns:
        return None
    storage = choose_storage(servers.engine, schema.name, entry.table, catalogue)
    live = storage.live.read_state()
    unfinished = None if live is None else TableAppends(storage, live).read_unfinished()
    if unfinished is None:
        return None
    files = ", ".join(unfinished.load.files)
    return Drift((), (f"the append of {files} to {name} was stopped: any load into it finishes it",))


def _complete_table(table: Table, entry: TableEntry | None) -> Table:
    """Return the file's table with metadata of the catalogue, without optional columns that no loaded file has."""
    known = {column.name: column for column in entry.table.columns} if entry else {}
    left_out = {c.name for c in table.columns if c.name not in known and c.if_missing == "leave_out"}
    table = table.drop_columns(left_out)
    columns = (complete_column(column, known.get(column.name)) for column in table.columns)
    description = table.description or (entry.table.description if entry else "")
    return table.model_copy(update={"columns": tuple(columns), "description": description})


def _compare_catalogue(schema: Schema, wanted: Table, entry: TableEntry) -> tuple[Step, ...]:
    """Return the differences between the file and the catalogue."""
    name = entry.qualified_name
    differences = []
    if keys := _find_differing_keys(schema, entry.schema, "tables"):
        differences.append(f"in the catalogue {schema.name} has another {', '.join(keys)}")
    if keys := _find_differing_keys(wanted, entry.table, "columns"):
        differences.append(f"in the catalogue {name} has another {', '.join(keys)}")
    known = {column.name: column for column in entry.table.columns}
    for column in wanted.columns:
        if column.name not in known:
            differences.append(f"the column {column.name} of {name} is not in the catalogue")
        elif keys := _find_differing_keys(column, known[column.name]):
            differences.append(f"in the catalogue {name}.{column.name} has another {', '.join(keys)}")
    if not differences and wanted != entry.table:
        differences.append(f"in the catalogue the columns of {name} are in another order")
    return tuple(Step(difference, ()) for difference in differences)


def _find_differing_keys(one: Schema | Table | Column, other: Schema | Table | Column, ignored: str = "") -> list[str]:
    """Return the keys whose values differ, as they are written in schema files."""
    fields = type(one).model_fields
    differing = (key for key in fields if key != ignored and getattr(one, key) != getattr(other, key))
    return [fields[key].serialization_alias or key for key in differing]
