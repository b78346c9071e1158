"""``skyhouse attach``: makes a HATS catalogue a table without copying its files."""

from __future__ import annotations

from collections.abc import Mapping

from clickhouse_schema.catalogue import Catalogue, TableEntry
from clickhouse_schema.engine_tables.catalogue_log import read_catalogue, register_table
from clickhouse_schema.engine_tables.density_table import write_density
from clickhouse_schema.hats.attachment import AttachedFile, Attachment, PinnedFile
from clickhouse_schema.hats.hats_error import HatsError
from clickhouse_schema.healpix import ORDER
from clickhouse_schema.schema_model import Schema, Table
from loaders.load_error import LoadError
from loaders.pipeline.attach_request import AttachRequest
from loaders.pipeline.attached_columns import fit_table, read_columns
from loaders.pipeline.attached_density import count_attached_rows
from loaders.pipeline.latest_rows import refuse_latest_table
from loaders.pipeline.load_checks import refuse_lookalike
from loaders.pipeline.load_plan import complete_schema, describe_schema, read_wanted_schema
from loaders.pipeline.named_input import open_input
from loaders.pipeline.storage_choice import find_unregistered_storage
from loaders.pipeline.table_name import split_name
from loaders.progress_reporter import Reporter
from tap_service.hats.reading.catalogue_check import check_positions
from tap_service.hats.reading.catalogue_folder import is_folder_address
from tap_service.hats.reading.partition_file import PartitionFile
from tap_service.hats.reading.partition_source import PartitionSource
from tap_service.readers.read_error import ReadError
from tap_service.storage.engine.engine import Engine


def attach_catalogue(engine: Engine, request: AttachRequest, reporter: Reporter) -> None:
    """Attach a catalogue, or read the files of an attached catalogue again.

    Parameters
    ----------
    engine : Engine
        The engine whose catalogue gets the table.
    request : AttachRequest
        What to attach.
    reporter : Reporter
        Receives messages.

    Raises
    ------
    LoadError
        The attachment is impossible; nothing has changed.
    ReadError
        The catalogue cannot be read or is inconsistent.
    """
    catalogue = read_catalogue(engine)
    entry = catalogue.find_entry(*split_name(request.table))
    attached = _find_attachment(entry, request)
    if not request.refresh:
        _refuse_existing(engine, catalogue, request)
    address = request.address or (attached.address if attached else "")
    sources = _open_partitions(address, reporter)
    schema = _plan_schema(request, sources, entry, reporter)
    files = [source.file for source in sources]
    is_described = request.schema_file is not None
    table = fit_table(schema.tables[0], files[0].catalogue, reporter, is_described=is_described)
    schema = _replace_table(schema, table)
    attachment = _build_attachment(schema.tables[0], files, reporter)
    if attached is not None and entry is not None and attachment == attached and schema.tables[0] == entry.table:
        reporter.output(f"{request.table} is up to date: its {len(files):,} files have not changed")
        return
    _publish(engine, schema, attachment, count_attached_rows(files, schema.tables[0], reporter))
    verb = "read again" if attached else "attached"
    reporter.output(
        f"{verb} {request.table}: {attachment.rows:,} rows in {len(files):,} files"
        f" ({attachment.size / 1e6:,.1f} MB) of {attachment.address}"
    )


def _find_attachment(entry: TableEntry | None, request: AttachRequest) -> Attachment | None:
    """Return the attachment of the table that is to be read again."""
    attached = entry.attached.attachment if entry is not None and entry.attached is not None else None
    if request.refresh and attached is None:
        raise LoadError(f"there is no attached table {request.table}; see skyhouse tables")
    if not (request.refresh or request.address):
        raise LoadError("name the folder or the URL of a HATS catalogue")
    if request.address and not is_folder_address(request.address):
        raise LoadError(f"{request.address} is neither a folder nor a URL: name the folder of a HATS catalogue")
    return attached if request.refresh else None


def _refuse_existing(engine: Engine, catalogue: Catalogue, request: AttachRequest) -> None:
    schema_name, table_name = split_name(request.table)
    if catalogue.find_entry(schema_name, table_name) is not None or find_unregistered_storage(engine, request.table):
        raise LoadError(
            f"{request.table} exists: read an attached table again with --refresh, remove a table with skyhouse drop,"
            " or choose another --table"
        )
    refuse_latest_table(catalogue.schemas, request.table)
    refuse_lookalike(catalogue, request.table)


def _open_partitions(address: str, reporter: Reporter) -> list[PartitionSource]:
    sources = open_input(address, reporter).sources
    partitions = [source for source in sources if isinstance(source, PartitionSource)]
    if len(partitions) < len(sources):
        raise LoadError(f"{address} is not a HATS catalogue")
    return partitions


def _plan_schema(
    request: AttachRequest, sources: list[PartitionSource], entry: TableEntry | None, reporter: Reporter
) -> Schema:
    """Return the schema from the schema file, from the present table, or from the catalogue."""
    if request.schema_file is None and entry is not None:
        return entry.schema.model_copy(update={"tables": (entry.table,)})
    if request.schema_file is None:
        return describe_schema(request.table, [*sources], request.strict, reporter)
    wanted = read_wanted_schema(request.table, request.schema_file, request.strict, reporter)
    return complete_schema(wanted, [*sources], request.schema_file, request.strict, reporter)


def _replace_table(schema: Schema, table: Table) -> Schema:
    return schema.model_copy(update={"tables": (table,)})


def _build_attachment(table: Table, files: list[PartitionFile], reporter: Reporter) -> Attachment:
    catalogue = files[0].catalogue
    try:
        if table.layout.position is not None:
            check_positions(files, lambda _done, _all: reporter.check())
        columns = read_columns(table, catalogue, files)
        properties = PinnedFile(catalogue.properties_path, *catalogue.folder.stat(catalogue.properties_path))
    except HatsError as error:
        raise ReadError(str(error)) from error
    return Attachment(
        catalogue.folder.address,
        columns,
        _choose_index(files, reporter) if table.layout.position else "",
        table.layout.position,
        tuple(AttachedFile(file.pixel, file.path, *file.version, file.rows) for file in files),
        properties,
    )


def _choose_index(files: list[PartitionFile], reporter: Reporter) -> str:
    """Return the column with the index of order 29; '' if the index is computed from the positions."""
    column, order = files[0].catalogue.spatial_index or ("", 0)
    if order != ORDER:
        return ""
    unknown = sum(bool(file.rows and not file.cell_ranges) for file in files)
    if not unknown:
        return column
    reporter.message(
        f"{unknown:,} of {len(files):,} files have no statistics of {column}, so nothing shows that its cells are in"
        " their pixels: queries compute the index from the positions"
    )
    return ""


def _publish(engine: Engine, schema: Schema, attachment: Attachment, counts: Mapping[int, int]) -> None:
    """Publish the table. A query that was translated before reads the earlier files."""
    table = schema.tables[0]
    write_density(engine, schema.name, table, counts, attachment.size / max(attachment.rows, 1))
    register_table(engine, schema, table, attachment=attachment)
