"""``skyhouse user tables`` and ``drop-table``: the operator's view of user tables."""

from __future__ import annotations

from clickhouse_schema.engine_tables import user_table_record
from clickhouse_schema.engine_tables.user_table_record import SCHEMA_NAME, Reader
from loaders.load_error import LoadError
from loaders.progress_reporter import Reporter
from tap_service.config import read_config
from tap_service.services.user_tables.user_table_expiry import expiry_time
from tap_service.services.user_tables.user_table_storage import UserTableStorage
from tap_service.storage.engine.engine import Engine


def list_user_tables(engine: Engine, owner: str, reporter: Reporter) -> None:
    """Report the owner, name, rows, size, expiry and readers of each table of a user; ``owner`` '' for all users."""
    days = read_config().user_table_days
    if owner:
        records = user_table_record.read_user_tables(engine, owner)
    else:
        records = user_table_record.read_all_user_tables(engine)
    uses = user_table_record.read_last_uses(engine, [record.described for record in records])
    for record in records:
        end = expiry_time(record, uses.get(record.described), days)
        kept = f"until {end:%Y-%m-%d}" if end else "for good"
        size = f"{record.rows:,} rows\t{record.size / 1e6:,.1f} MB"
        named = ", ".join(f"{reader.kind} {reader.name}" for reader in record.readers)
        readers = f"\tshared with {named}" if named else ""
        reporter.output(f"{record.owner}\t{record.qualified_name}\t{size}\t{kept}{readers}")
    if not records:
        reporter.output(f"{owner} has no tables" if owner else "no user has tables")


def drop_user_tables(engine: Engine, owner: str, name: str, reporter: Reporter) -> None:
    """Drop a table of a user; ``name`` '' for all tables. Running queries finish. Raises ``LoadError``."""
    storage = UserTableStorage(read_config(), engine)
    wanted = name.lower().removeprefix(f"{SCHEMA_NAME}.")
    records = [
        record
        for record in user_table_record.read_user_tables(engine, owner)
        if wanted in ("", record.table.name.lower())
    ]
    if wanted and not records:
        raise LoadError(f"{owner} has no table {SCHEMA_NAME}.{wanted}; see skyhouse user tables {owner}")
    for record in records:
        storage.remove_table(owner, record.table.name)
        if not user_table_record.is_storage_read(engine, record.storage):
            user_table_record.drop_storage(engine, record.storage)
        reporter.output(f"dropped {record.qualified_name} of {owner}")


def forget_user(engine: Engine, user: str, reporter: Reporter) -> None:
    """Drop all tables of a removed user, and revoke the user's grants on tables of others. Raises ``LoadError``."""
    drop_user_tables(engine, user, "", reporter)
    reader, storage = Reader(kind="user", name=user), UserTableStorage(read_config(), engine)
    for record in user_table_record.read_all_user_tables(engine):
        if reader in record.readers:
            storage.change_readers(record.owner, record.table.name, lambda readers: readers.discard(reader))
