"""The state of a mirror in its folder: the plan, which does not change, and the journal of its files.

    mirror_plan.json        the files and the schema, written at the first start
    mirror_journal.jsonl    a line when a file is started, another when all its rows are in the staging table
    mirror_files/           files that are fetched and not yet loaded

The journal is compared with the staging table: rows that are missing there are loaded again. A kill can truncate only
the last line, which is then ignored.
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

#: The names of the files: the folder may have other files
_PLAN, _JOURNAL, _FILES = "mirror_plan.json", "mirror_journal.jsonl", "mirror_files"


class PlannedFile(BaseModel):
    """A file of the plan, or a piece of a table."""

    model_config = ConfigDict(frozen=True)

    address: str
    checksum: str = ""


class Plan(BaseModel):
    """The plan of a mirror.

    Attributes
    ----------
    request
        A hash of the recipe and the options: a plan with another hash is not continued.
    name
        The address that the table records as its origin.
    files
        The files in order; their indexes determine the numbers of their chunks.
    schema_yaml
        The schema file of the table.
    token
        Random text if the table is to be replaced and no checksums show whether the rows have changed; else ''.
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
    """The record of a file that is started or loaded.

    Attributes
    ----------
    file
        Its index in the plan.
    digest
        SHA-256 of the fetched file.
    chunks
        The number of rows of each chunk; None until the file is loaded.
    rejects_bytes, rejects_rows
        The size of the rejects file after this file, and the number of its bad rows.
    nulls
        NULL tokens that were recognised in this file and earlier files.
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
    """The state of a mirror in ``folder``. ``files``: the folder of the fetched files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files = folder / _FILES

    def read_plan(self) -> Plan | None:
        """Return the plan; None if there is none or it is damaged."""
        try:
            return Plan.model_validate_json((self.folder / _PLAN).read_bytes())
        except (FileNotFoundError, ValidationError):
            return None

    def clear(self) -> None:
        """Delete the state, and create the folder. Raises ``LoadError`` if it cannot be written."""
        try:
            self.forget()
            self.files.mkdir(parents=True)
        except OSError as error:
            raise self._build_error(error) from error

    def _build_error(self, error: OSError) -> LoadError:
        return LoadError(f"{self.folder} cannot be written: {error.strerror}: name another with --work")

    def write_plan(self, plan: Plan) -> None:
        """Store the plan. Raises ``LoadError`` if the folder cannot be written."""
        try:
            part = self.folder / f"{_PLAN}.part"
            part.write_text(plan.model_dump_json())
            _sync(part)
            os.replace(part, self.folder / _PLAN)
        except OSError as error:
            raise self._build_error(error) from error
        reach(Failpoint.MIRROR_PLAN)

    def forget(self) -> None:
        """Delete the files of the state, the plan first; other files in the folder stay."""
        for name in (_PLAN, f"{_PLAN}.part", _JOURNAL):
            (self.folder / name).unlink(missing_ok=True)
        shutil.rmtree(self.files, ignore_errors=True)

    def remove(self) -> None:
        """Delete the state of a complete mirror, and its folder if that is empty."""
        self.forget()
        if self.folder.exists() and not any(self.folder.iterdir()):
            self.folder.rmdir()

    def read_journal(self) -> dict[int, JournalEntry]:
        """Return the last entry of each file, and remove a last line that is truncated."""
        path = self.folder / _JOURNAL
        if not path.exists():
            return {}
        data = path.read_bytes()
        complete = data.rfind(b"\n") + 1
        if complete < len(data):
            os.truncate(path, complete)
        found = (JournalEntry.model_validate_json(line) for line in data[:complete].splitlines())
        return {entry.file: entry for entry in found}

    def write_entry(self, entry: JournalEntry) -> None:
        with (self.folder / _JOURNAL).open("a") as journal:
            journal.write(entry.model_dump_json(exclude_defaults=True) + "\n")
            journal.flush()
            os.fsync(journal.fileno())
        reach(Failpoint.MIRROR_BEGIN if entry.chunks is None else Failpoint.MIRROR_RECORD)


def find_loaded(journal: Mapping[int, JournalEntry], stored_rows: Mapping[int, int]) -> list[JournalEntry]:
    """Return the entries of the first files, up to the first file that is not complete in the table."""
    loaded: list[JournalEntry] = []
    while (entry := journal.get(len(loaded))) is not None and entry.chunks is not None:
        if any(stored_rows.get(number, 0) != rows for number, rows in entry.chunks.items()):
            break
        loaded.append(entry)
    return loaded


def _sync(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())
