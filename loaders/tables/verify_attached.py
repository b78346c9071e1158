"""``skyhouse verify`` of an attached table: compares its files with the files at the time of attachment."""

from __future__ import annotations

from collections.abc import Iterator

from clickhouse_schema.catalogue import TableEntry
from clickhouse_schema.hats.attachment import AttachedFile, Attachment
from loaders.load_error import LoadError
from loaders.pipeline.named_input import open_input
from loaders.progress_reporter import Reporter
from loaders.tables.verify_catalogue import verify_catalogue
from tap_service.hats.reading.partition_source import PartitionSource

_MAX_SHOWN = 5


def verify_attached(entry: TableEntry, attachment: Attachment, reporter: Reporter) -> None:
    """Check the files of an attached table. Raises ``LoadError`` if they have changed, else ``ReadError``."""
    now = {
        source.file.path: AttachedFile(source.file.pixel, source.file.path, *source.file.version, source.file.rows)
        for source in open_input(attachment.address, reporter).sources
        if isinstance(source, PartitionSource)
    }
    errors = list(_find_changes({file.path: file for file in attachment.files}, now))
    if errors:
        more = f"; and {len(errors) - _MAX_SHOWN:,} more" if len(errors) > _MAX_SHOWN else ""
        raise LoadError(
            f"{entry.qualified_name} does not match its files: {'; '.join(errors[:_MAX_SHOWN])}{more}."
            f" Read them again with skyhouse attach --refresh --table {entry.qualified_name}"
        )
    reporter.output(f"files: {len(now):,}, none has changed since they were attached")
    verify_catalogue(attachment.address, reporter, with_rows=True)


def _find_changes(attached: dict[str, AttachedFile], now: dict[str, AttachedFile]) -> Iterator[str]:
    for path, file in attached.items():
        if path not in now:
            yield f"{path} is missing"
        elif now[path] != file:
            yield f"{path} has changed"
    yield from (f"{path} is new" for path in now if path not in attached)
