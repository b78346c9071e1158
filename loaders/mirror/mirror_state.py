"""What a mirror has done, in its folder: the plan, which does not change, and the journal of its files.

    mirror_plan.json        the files and the schema, from the first start on
    mirror_journal.jsonl    a line when a file is begun, another when all its rows are in the staging table
    mirror_files/           what is fetched and not yet loaded

The journal is compared with the staging table: what that does not have is loaded again. A line that a kill has cut is
the last one, and ignored.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from clickhouse_schema.failpoints import Failpoint, reach
from clickhouse_schema.schema_files.yaml_reader import read_schema
from clickhouse_schema.schema_model import Schema
from loaders.load_error import LoadError

#: the folder may have other files
_PLAN, _JOURNAL, _FILES = "mirror_plan.json", "mirror_journal.jsonl", "mirror_files"


class PlannedFile(BaseModel):
    """A file of the plan, or a piece of a table."""

    model_config = ConfigDict(frozen=True)

    address: str
    checksum: str = ""


class Plan(BaseModel):
    """What is mirrored.

    Attributes
    ----------
    request
        A hash of the recipe and the options: a plan of another request is not continued.
    name
        The address that the table records as its origin.
    files
        In their order; their positions number their chunks.
    schema_yaml
        The schema file of the table.
    token
        Random where the table is to be replaced and no sums tell whether the rows have changed; else ''.
    """

    model_config = ConfigDict(frozen=True)

    request: str
    name: str
    files: tuple[PlannedFile, ...]
    schema_yaml: str
    token: str = ""

    @cached_property
    def table_schema(self) -> Schema:
        return read_schema(self.schema_yaml, "plan")[0]


class JournalEntry(BaseModel):
    """A file that is begun or loaded.

    Attributes
    ----------
    file
        Its position in the plan.
    digest
        SHA-256 of what was fetched.
    chunks
        The rows of each chunk; None as long as it is not loaded.
    rejects_bytes, rejects_rows
        Size of the rejects file after it, and the bad rows in that.
    nulls
        NULL tokens that were recognised in it and the files before.
    """

    model_config = ConfigDict(frozen=True)

    file: int
    digest: str
    chunks: dict[int, int] | None = None
    rejects_bytes: int = 0
    rejects_rows: int = 0
    nulls: tuple[str, ...] = ()

    @property
    def rows(self) -> int:
        return sum((self.chunks or {}).values())


class MirrorState:
    """The state of a mirror in ``folder``; ``files`` is the folder of what is fetched."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files = folder / _FILES

    def read_plan(self) -> Plan | None:
        """Return the plan; None if there is none, or it is broken."""
        try:
            return Plan.model_validate_json((self.folder / _PLAN).read_bytes())
        except (FileNotFoundError, ValidationError):
            return None

    def clear(self) -> None:
        """Forget everything, and make the folder. Raises ``LoadError`` if it cannot be written."""
        try:
            self.forget()
            self.files.mkdir(parents=True)
        except OSError as error:
            raise self._build_error(error) from error

    def _build_error(self, error: OSError) -> LoadError:
        return LoadError(f"{self.folder} cannot be written: {error.strerror}: name another with --work")

    def write_plan(self, plan: Plan) -> None:
        """Begin with a plan. Raises ``LoadError`` if the folder cannot be written."""
        try:
            part = self.folder / f"{_PLAN}.part"
            part.write_text(plan.model_dump_json())
            _sync(part)
            os.replace(part, self.folder / _PLAN)
        except OSError as error:
            raise self._build_error(error) from error
        reach(Failpoint.MIRROR_PLAN)

    def forget(self) -> None:
        """Delete the plan first, then the rest, and nothing that is not a mirror's."""
        for name in (_PLAN, f"{_PLAN}.part", _JOURNAL):
            (self.folder / name).unlink(missing_ok=True)
        shutil.rmtree(self.files, ignore_errors=True)

    def remove(self) -> None:
        """Forget a mirror that is complete, with its folder if nothing else is in it."""
        self.forget()
        if self.folder.exists() and not any(self.folder.iterdir()):
            self.folder.rmdir()

    def read_journal(self) -> dict[int, JournalEntry]:
        """Return the last entry of each file; the line that a kill has cut is removed."""
        path = self.folder / _JOURNAL
        if not path.exists():
            return {}
        data = path.read_bytes()
        whole = data.rfind(b"\n") + 1
        if whole < len(data):
            os.truncate(path, whole)
        found = (JournalEntry.model_validate_json(line) for line in data[:whole].splitlines())
        return {entry.file: entry for entry in found}

    def write_entry(self, entry: JournalEntry) -> None:
        with (self.folder / _JOURNAL).open("a") as journal:
            journal.write(entry.model_dump_json(exclude_defaults=True) + "\n")
            journal.flush()
            os.fsync(journal.fileno())
        reach(Failpoint.MIRROR_BEGIN if entry.chunks is None else Failpoint.MIRROR_RECORD)


def find_loaded(journal: Mapping[int, JournalEntry], stored_rows: Mapping[int, int]) -> list[JournalEntry]:
    """Return the entries of the first files up to one that is not in the table as the journal says."""
    loaded: list[JournalEntry] = []
    while (entry := journal.get(len(loaded))) is not None and entry.chunks is not None:
        if any(stored_rows.get(number, 0) != rows for number, rows in entry.chunks.items()):
            break
        loaded.append(entry)
    return loaded


def _sync(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())
