"""``skyhouse grant``, ``revoke`` and ``grants``: the groups of users that see a table or a schema."""

from __future__ import annotations

from clickhouse_schema.engine_tables.catalogue_log import read_catalogue, read_grants, write_grants
from clickhouse_schema.engine_tables.user_table_record import SCHEMA_NAME
from clickhouse_schema.tap_schema import TAP_SCHEMA_NAME
from clickhouse_schema.visible_tables import EVERYBODY
from loaders.load_error import LoadError
from loaders.progress_reporter import Reporter
from tap_service.storage.engine.engine import Engine


def grant_access(engine: Engine, target: str, group: str, reporter: Reporter) -> None:
    """Let a group see a table or schema, which becomes hidden from all others. It need not be loaded yet."""
    key = _read_target(target)

    def add_group(grants: dict[str, frozenset[str]]) -> None:
        others = frozenset() if group == EVERYBODY else grants.get(key, frozenset()) - {EVERYBODY}
        grants[key] = others | {group}

    engine = engine.pin_server()
    write_grants(engine, add_group)
    if not _is_known(engine, key):
        reporter.message(f"note: {target} is not loaded yet; the grant takes effect when it is")
    _report_access(engine, key, reporter)


def revoke_access(engine: Engine, target: str, group: str, reporter: Reporter) -> None:
    """Revoke a group's grant. After its last grant, nobody sees the table or schema. Raises ``LoadError``."""
    key = _read_target(target)

    def remove_group(grants: dict[str, frozenset[str]]) -> None:
        if group not in grants.get(key, ()):
            raise LoadError(f"{group} has no grant for {target}; skyhouse grants lists the grants")
        grants[key] -= {group}

    engine = engine.pin_server()
    write_grants(engine, remove_group)
    _report_access(engine, key, reporter)


def list_grants(engine: Engine, reporter: Reporter) -> None:
    """Report each table or schema with grants, and its groups."""
    grants = read_grants(engine)
    for target, groups in sorted(grants.items()):
        reporter.output(f"{target}\t{_format_groups(groups)}")
    if not grants:
        reporter.output("everybody sees all tables: skyhouse grant SCHEMA.TABLE GROUP restricts one to a group")


def _report_access(engine: Engine, key: str, reporter: Reporter) -> None:
    groups = read_grants(engine).get(key, frozenset())
    advice = "" if groups else f" (skyhouse grant {key} {EVERYBODY} makes it visible to all)"
    reporter.output(f"{key} is visible to {_format_groups(groups)}{advice}")


def _format_groups(groups: frozenset[str]) -> str:
    return ", ".join(sorted(groups)) or "nobody"


def _read_target(target: str) -> str:
    """Return the key of a schema or schema.table. Raises ``LoadError``."""
    key = target.strip().lower()
    schema, dot, table = key.partition(".")
    if not schema or (dot and not table):
        raise LoadError(f"{target!r} is neither a schema nor schema.table: give a name as skyhouse tables lists it")
    if schema in (TAP_SCHEMA_NAME.lower(), SCHEMA_NAME):
        raise LoadError(f"{target} cannot have grants: users see in it only what they may see elsewhere")
    return key


def _is_known(engine: Engine, key: str) -> bool:
    entries = read_catalogue(engine).entries
    return any(key in (entry.schema.name.lower(), entry.qualified_name.lower()) for entry in entries)
