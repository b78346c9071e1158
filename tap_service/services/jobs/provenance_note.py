"""CHECKSUM=true: a job notes the checksum of its rows and the versions of the tables that it has read."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from adql import Translation
from clickhouse_schema.engine_tables.table_versions import read_table_versions
from tap_service.models.request_parameters import Pair
from tap_service.models.result_provenance import ResultProvenance, TableVersion
from tap_service.models.timestamps import milliseconds_to_instant
from tap_service.models.upload_parameter import UPLOAD_SCHEMA
from tap_service.scratch_files import ScratchSpace
from tap_service.service_errors import ParameterError
from tap_service.services.jobs.row_checksum import RowChecksum
from tap_service.services.queries.query_run import QueryRun
from tap_service.storage.engine.engine import Engine

_TRUE, _FALSE = ("true", "1"), ("false", "0", "")
_NANOSECONDS = 1_000_000


def parse_checksum(pairs: Sequence[Pair]) -> bool:
    """Return the value of CHECKSUM. Raises ParameterError."""
    given = [value.strip().lower() for name, value in pairs if name.upper() == "CHECKSUM"]
    wrong = [value for value in given if value not in (*_TRUE, *_FALSE)]
    if wrong or len(given) > 1:
        raise ParameterError(
            "CHECKSUM is given once, as true or false: whether the job notes the checksum of its rows and the versions "
            "of its tables"
        )
    return bool(given) and given[0] in _TRUE


class ProvenanceNote:
    """Implements ``RunObserver``; create it before the run. Methods raise EngineError, and OSError on a full disk."""

    def __init__(self, engine: Engine, translation: Translation, scratch: ScratchSpace) -> None:
        self._engine = engine
        self._translation = translation
        self._keys = [
            (entry.schema.name, entry.table.name) for entry in translation.tables if entry.schema.name != UPLOAD_SCHEMA
        ]
        self._checksum = RowChecksum(translation.fields, scratch)
        self._before = read_table_versions(engine, self._keys)

    def note_first_rows(self, batch: pa.RecordBatch) -> None:
        """Do nothing: ``note_rows`` gets these rows too."""

    def note_rows(self, batch: pa.RecordBatch) -> None:
        self._checksum.add_rows(batch)

    def finish(self, run: QueryRun) -> ResultProvenance:
        """Return the provenance of the result that was written. A table that has changed meanwhile has no version.

        Raise the reason of a stop, which ends the sorting of many rows.
        """
        report, translation = run.report, self._translation
        after = read_table_versions(self._engine, self._keys)
        tables = {}
        for entry in translation.tables:
            key = (entry.schema.name, entry.table.name)
            if entry.schema.name == UPLOAD_SCHEMA:
                continue
            version = self._before.get(key)
            if version is None or after.get(key) != version:
                tables[key] = TableVersion(entry.qualified_name, rows=entry.rows)
            else:
                changed = milliseconds_to_instant(version // _NANOSECONDS)
                tables[key] = TableVersion(entry.qualified_name, str(version), changed, entry.rows)
        schemas = {entry.schema.name: entry.schema for entry in translation.tables}.values()
        return ResultProvenance(
            self._checksum.compute(run.check_stopped),
            report.rows,
            report.status == "OVERFLOW",
            tuple(tables[key] for key in sorted(tables)),
            tuple(dict.fromkeys(schema.citation for schema in schemas if schema.citation)),
            tuple(entry.table.name for entry in translation.tables if entry.schema.name == UPLOAD_SCHEMA),
        )

    def close(self) -> None:
        self._checksum.close()
