"""The document of a backup: what it contains, and where."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from loaders.backup.backup_part import Part

#: Version of the document
VERSION = 1


class EngineBackup(BaseModel):
    """A folder that ClickHouse wrote on one server, or on all servers of a cluster with a Keeper, and its size."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    folder: str
    bytes: int


class BackupFile(BaseModel):
    """A copied file; ``digest`` is its SHA-256."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    bytes: int
    digest: str


class Manifest(BaseModel):
    """A complete backup.

    Attributes
    ----------
    name, created
        The name of the backup, which contains the instant of its creation, and this instant, both in UTC.
    skyhouse, version
        The version of Skyhouse, and the version of this document.
    base
        The name of the backup that has the unchanged rows; '' for a full backup.
    disk
        The disk of the ClickHouse servers that holds the tables; '' if they are next to this document.
    shards, is_replicated
        The number of shards and whether they have replicas; 0 shards for one server or the embedded engine.
    databases
        The databases of the tables.
    tables
        The tables of the catalogue, as ``schema.table``.
    engines
        One folder for each server of a cluster without a Keeper, in the order of the shards.
    files
        SQLite files, by their names in the data directory.
    jobs
        Number of jobs.
    results
        The contents of the result store, in the folder that all backups share.
    parts
        The parts that the backup contains.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    created: str
    skyhouse: str
    version: int = VERSION
    base: str = ""
    disk: str = ""
    shards: int = 0
    is_replicated: bool = False
    databases: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    engines: tuple[EngineBackup, ...] = ()
    files: tuple[BackupFile, ...] = ()
    jobs: int = 0
    results: tuple[BackupFile, ...] = ()
    parts: frozenset[Part] = Field(default_factory=frozenset)

    @property
    def engine_bytes(self) -> int:
        return sum(engine.bytes for engine in self.engines)
