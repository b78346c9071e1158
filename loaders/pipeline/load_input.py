"""The input of a load, and the fingerprints by which finished and stopped loads are recognised."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from clickhouse_schema.schema_model import Table
from loaders.pipeline.append_rows import TableAppends
from loaders.pipeline.load_request import Mode
from loaders.pipeline.named_input import NamedInput
from loaders.storage.load_state import FinishedLoad
from tap_service.models.read_options import AS_DETECTED, ReadOptions


@dataclass(frozen=True, slots=True)
class LoadInput:
    """The files of a load, the model of their table, and the options for reading them."""

    inputs: Sequence[NamedInput]
    table: Table
    options: ReadOptions = AS_DETECTED

    @property
    def digests(self) -> tuple[str, ...]:
        return tuple(found.digest for found in self.inputs)

    def compute_fingerprint(self, loads: tuple[FinishedLoad, ...]) -> str:
        """Return a hash of this input loaded on top of ``loads``."""
        parts = [
            *self.digests,
            self.table.model_dump_json(by_alias=True, exclude_defaults=True),
            *(load.fingerprint for load in loads),
            *([] if self.options == AS_DETECTED else [str(self.options)]),
        ]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    def is_loaded(self, loads: tuple[FinishedLoad, ...], mode: Mode, appends: TableAppends) -> bool:
        """Whether a table made by ``loads`` contains this input; for mode "replace", nothing but this input."""
        if mode == "replace" and (len(loads) > 1 or appends.sum_appends().appends):
            return False
        if mode != "replace" and appends.is_done(appends.compute_fingerprint(self.digests)):
            return True
        return any(load.fingerprint == self.compute_fingerprint(loads[:i]) for i, load in enumerate(loads))

    def find_known_files(self, loads: tuple[FinishedLoad, ...], appends: TableAppends) -> tuple[int, ...]:
        """Return the indexes of files that were loaded or appended, alone or together with others."""
        added = (load.digests for load in loads if load.kind == "load")
        known = appends.find_known_digests(self.digests).union(*added)
        return tuple(i for i, digest in enumerate(self.digests) if digest in known)

    def describe_load(self, fingerprint: str, rows: int, rejected: int) -> FinishedLoad:
        """Return the record of a load that finishes now."""
        return FinishedLoad(
            fingerprint=fingerprint,
            files=tuple(found.name for found in self.inputs),
            digests=self.digests,
            rows=rows,
            rejected=rejected,
            finished=datetime.now(UTC).isoformat(timespec="seconds"),
        )
