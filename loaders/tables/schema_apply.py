"""The engine brought to what a schema file says, while the service runs: what is missing is added, nothing is loaded.

    storage of each table (``clickhouse_schema.schema_drift``) -> the table's comment -> the catalogue

Each step may be repeated, and each is of use only to the next: a reader sees the catalogue as it was, or a table that
is as it says. Tables of the catalogue that the file has not stay as they are. What data files said of columns (unit,
UCD, utype, description) stays where the schema file says nothing.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from pathlib import Path

from clickhouse_schema.catalogue import Catalogue, TableEntry
from clickhouse_schema.cluster_topology import Topology, read_topology
from clickhouse_schema.engine_tables import catalogue_log, density_table
from clickhouse_schema.schema_drift import RELOAD_HINT, Drift, Step, find_drift
from clickhouse_schema.schema_files.yaml_reader import read_schema
from clickhouse_schema.schema_model import Column, Schema, Table
from clickhouse_schema.schema_problem import SchemaError
from clickhouse_schema.shard_map import LOCAL, quote_table
from loaders.cluster.orphan_tables import left_over
from loaders.load_error import LoadError
from loaders.pipeline.append_rows import Additions
from loaders.pipeline.load_plan import completed
from loaders.pipeline.storage_choice import known_storage
from loaders.progress_reporter import Reporter
from loaders.storage.load_state import TableState
from loaders.storage.server_storage import comment, state_of
from tap_service.storage.engine.engine import Engine

#: Of the layout, what says on which servers rows are
_PLACING = ("parent", "everywhere", "overlap_radius")


@dataclass(frozen=True, slots=True)
class _Difference:
    """Of one table: ``wanted`` is what it shall be, in the engine under the name ``base``; ``entry`` what it is."""

    wanted: Table
    base: str
    entry: TableEntry | None
    drift: Drift
    of_catalogue: tuple[Step, ...]

    @property
    def steps(self) -> tuple[Step, ...]:
        return (*self.drift.steps, *self.of_catalogue)


def plan(engine: Engine, schema_file: Path, reporter: Reporter) -> None:
    """The statements that ``evolve`` would execute, as SQL with comments. Raises ``LoadError``."""
    _, differences = _compared(engine, schema_file, reporter)
    steps = [step for difference in differences for step in difference.steps]
    for step in steps:
        reporter.output("\n".join([f"-- {step.description}", *(f"{statement};" for statement in step.sql)]))
    if not steps:
        reporter.output(f"-- the engine is as {schema_file} says")
    _refuse(differences)


def diff(engine: Engine, schema_file: Path, reporter: Reporter) -> None:
    """The differences in words. Raises ``LoadError`` if there are any."""
    _, differences = _compared(engine, schema_file, reporter)
    words = [step.description for difference in differences for step in difference.steps]
    words += [obstacle for difference in differences for obstacle in difference.drift.obstacles]
    for line in words:
        reporter.output(line)
    if words:
        raise LoadError(f"the engine is not as {schema_file} says: differences are {len(words)}")
    reporter.output(f"the engine is as {schema_file} says")


def evolve(engine: Engine, schema_file: Path, reporter: Reporter) -> None:
    """Take the differences away. Raises ``LoadError`` if some cannot be, and then changes nothing."""
    schema, differences = _compared(engine, schema_file, reporter)
    _refuse(differences)
    topology = read_topology(engine)
    # all replicas have it before the catalogue says so; other servers' statements do not wait for indexes of all rows
    settings = {"alter_sync": 2} | ({} if topology.is_one_server else {"mutations_sync": 0})
    for difference in differences:
        reporter.check()
        for step in difference.steps:
            reporter.output(step.description)
            for statement in step.sql:
                engine.execute(statement, settings)
        if difference.steps:
            _publish(engine, topology, schema, difference)
    if not any(difference.steps for difference in differences):
        reporter.output(f"the engine is as {schema_file} says")


def _refuse(differences: list[_Difference]) -> None:
    obstacles = [obstacle for difference in differences for obstacle in difference.drift.obstacles]
    if obstacles:
        raise LoadError("this cannot be changed in place, so nothing is:\n" + "\n".join(obstacles))


def _publish(engine: Engine, topology: Topology, schema: Schema, difference: _Difference) -> None:
    table = difference.wanted
    own = schema.model_copy(update={"tables": (table,)})
    name = difference.base + (topology.rows_suffix(LOCAL) if topology.is_cluster and table.is_sharded else "")
    state = state_of(engine, schema.name, name) or TableState(
        fingerprint="", verified=True, entry=own, origin=secrets.token_hex(16)
    )
    version, _ = catalogue_log.read_registered(engine, schema.name, table.name)
    text = comment(state.model_copy(update={"entry": own, "catalogue": version}))
    engine.execute(f"ALTER TABLE {quote_table(schema.name, name)}{topology.on_cluster} MODIFY COMMENT {text}")
    before = difference.entry.table.layout if difference.entry else None
    if before is None or before.healpix_order != table.layout.healpix_order:
        density_table.update_density(engine, schema.name, table, difference.base)
    catalogue_log.register_table(engine, schema, table, None if difference.entry else 0)


# --- the comparison ---------------------------------------------------------------------------------------------------


def _compared(engine: Engine, schema_file: Path, reporter: Reporter) -> tuple[Schema, list[_Difference]]:
    try:
        schema, warnings = read_schema(schema_file, str(schema_file))
    except SchemaError as error:
        raise LoadError(str(error)) from error
    for warning in warnings:
        reporter.message(f"warning: {warning}")
    catalogue = catalogue_log.read_catalogue(engine)
    topology = read_topology(engine)
    return schema, [_difference(engine, topology, catalogue, schema, table) for table in schema.tables]


def _difference(engine: Engine, topology: Topology, catalogue: Catalogue, schema: Schema, table: Table) -> _Difference:
    found = catalogue.find_tables(table.name, True, schema.name, True)
    entry = found[0] if found else None
    wanted = _wanted(table, entry)
    base = entry.engine_table[1] if entry else table.name
    if entry is None and catalogue.sharding is not None:
        base = catalogue.sharding.base_name(table.name, is_sharded=table.is_sharded)
    told = f"{schema.name}.{table.name}"
    moved = [] if entry is None or not topology.is_cluster else _moved(entry.table, wanted)
    if moved:
        obstacle = f"{', '.join(moved)} of {told} says on which servers its rows are: {RELOAD_HINT}"
        return _Difference(wanted, base, entry, Drift((), (obstacle,)), ())
    if entry is not None and entry.table.layout.position != wanted.layout.position:
        obstacle = f"position of {told} says what its rows are indexed by: {RELOAD_HINT}"
        return _Difference(wanted, base, entry, Drift((), (obstacle,)), ())
    of_catalogue = () if entry is None else _of_catalogue(schema, wanted, entry)
    if entry is None:
        of_catalogue = (Step(f"{told} is not in the catalogue", ()),)
    of_engine = _in_work(engine, topology, catalogue, schema, wanted) or find_drift(
        engine, topology, schema.name, wanted, base
    )
    return _Difference(wanted, base, entry, of_engine, of_catalogue)


def _in_work(engine: Engine, topology: Topology, catalogue: Catalogue, schema: Schema, wanted: Table) -> Drift | None:
    """The obstacle that a load is which was stopped: its rows are as the table was when it began."""
    told = f"{schema.name}.{wanted.name}"
    entries = catalogue.find_tables(wanted.name, True, schema.name, True)
    if not entries:
        is_filled = topology.is_cluster and left_over(engine, topology, schema.name, wanted.name).is_filled
        stopped = f"a load into {told} was stopped, or its drop: start that again, or skyhouse drop {told}"
        return Drift((), (stopped,)) if is_filled else None
    storage = known_storage(engine, told, catalogue)
    live = storage.live_state() if storage else None
    if storage is None or live is None or wanted.columns == entries[0].table.columns:
        return None
    waiting = Additions(storage, live).waiting()
    if waiting is None:
        return None
    stopped = f"the addition of {', '.join(waiting.load.files)} to {told} was stopped: any load into it finishes it"
    return Drift((), (stopped,))


def _moved(table: Table, wanted: Table) -> list[str]:
    keys = [key for key in _PLACING if getattr(table.layout, key) != getattr(wanted.layout, key)]
    return [*keys, *(["position"] if table.is_sharded != wanted.is_sharded and not keys else [])]


def _wanted(table: Table, entry: TableEntry | None) -> Table:
    """The file's table with what the catalogue knows besides, without columns that no load has found."""
    known = {column.name: column for column in entry.table.columns} if entry else {}
    columns = [completed(column, known.get(column.name)) for column in table.columns]
    columns = [column for column in columns if column.name in known or column.if_missing != "leave_out"]
    description = table.description or (entry.table.description if entry else "")
    return table.model_copy(update={"columns": tuple(columns), "description": description})


def _of_catalogue(schema: Schema, wanted: Table, entry: TableEntry) -> tuple[Step, ...]:
    """What the catalogue tells otherwise."""
    told = entry.qualified_name
    steps = []
    if keys := _others(schema, entry.schema, "tables"):
        steps.append(Step(f"of the schema {schema.name} the catalogue has other {', '.join(keys)}", ()))
    if keys := _others(wanted, entry.table, "columns"):
        steps.append(Step(f"of {told} the catalogue has other {', '.join(keys)}", ()))
    known = {column.name: column for column in entry.table.columns}
    for column in wanted.columns:
        if column.name not in known:
            steps.append(Step(f"the column {column.name} of {told} is not in the catalogue", ()))
        elif keys := _others(column, known[column.name]):
            steps.append(Step(f"of {told}.{column.name} the catalogue has other {', '.join(keys)}", ()))
    if not steps and wanted != entry.table:
        steps.append(Step(f"in the catalogue the columns of {told} are in another order", ()))
    return tuple(steps)


def _others(one: Schema | Table | Column, other: Schema | Table | Column, but: str = "") -> list[str]:
    """The keys whose values differ, as a schema file writes them."""
    fields = type(one).model_fields
    differing = (key for key in fields if key != but and getattr(one, key) != getattr(other, key))
    return [fields[key].serialization_alias or key for key in differing]
