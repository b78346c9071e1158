"""The location of backups: a directory, or a URL that fsspec knows, such as s3://bucket/backups.

    NAME.json            the manifest of a backup, written last
    data/NAME/           the files of one backup
    results/KEY          results of jobs, shared by all backups: a result never changes

A killed backup leaves a folder in data/ without a manifest. The next backup deletes it.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import ValidationError

from clickhouse_schema.quoting import quote_string
from loaders.backup.backup_manifest import VERSION, BackupFile, Manifest
from loaders.load_error import LoadError
from loaders.target_files import TargetFiles

_DATA, _RESULTS, _MANIFEST = "data", "results", ".json"
_PIECE_BYTES = 1 << 20
#: In an object store, younger files may belong to a backup that is running.
_MAX_RUNNING_SECONDS = 2 * 86400


class BackupTarget:
    """The backups at one location.

    Parameters
    ----------
    address : str
        Path of a directory, or a URL such as s3://bucket/backups.

    Raises
    ------
    LoadError
        The address cannot be used.
    """

    def __init__(self, address: str) -> None:
        self._target = TargetFiles(address, "backups")
        self.is_local = self._target.is_local
        self._address = self._target.address
        self._files = self._target.files

    # --- manifests

    def list_backups(self) -> list[Manifest]:
        """Return the complete backups, oldest first."""
        with self._target.translate_errors():
            paths = [path for path in self._target.list_folder("") if path.endswith(_MANIFEST)]
            return [self._read_manifest(path) for path in sorted(paths)]

    def find_backup(self, name: str) -> Manifest:
        """Return a complete backup.

        Parameters
        ----------
        name : str
            Name of the backup; '' for the newest.

        Returns
        -------
        Manifest
            Its manifest.

        Raises
        ------
        LoadError
            There is no such backup, or a manifest is damaged or from a later version of Skyhouse.
        """
        backups = self.list_backups()
        found = [backup for backup in backups if name in ("", backup.name)]
        if not found:
            known = f"has {', '.join(each.name for each in backups)}" if backups else "has no backup"
            raise LoadError(f"there is no backup {name} in {self._address}, which {known}".replace("  ", " "))
        return found[-1]

    def write_manifest(self, manifest: Manifest) -> None:
        """Write the manifest, which makes a backup complete."""
        with self._target.translate_errors():
            if self.is_local:
                os.sync()  # what ClickHouse and fsspec have written must be on disk before the manifest is
            part = self._target.build_path(f"{manifest.name}{_MANIFEST}.part")
            document = manifest.model_dump_json(indent=1).encode()
            if self.is_local:
                self._files.pipe_file(part, document)
                os.replace(part, part.removesuffix(".part"))
                os.sync()
            else:
                self._files.pipe_file(part.removesuffix(".part"), document)

    def delete_backup(self, name: str) -> None:
        """Delete a backup, its manifest first; results stay until ``delete_results``."""
        with self._target.translate_errors():
            self._files.rm_file(self._target.build_path(f"{name}{_MANIFEST}"))
            self._target.delete_folder(f"{_DATA}/{name}")

    def delete_incomplete(self) -> list[str]:
        """Delete what killed backups left, and return their names."""
        with self._target.translate_errors():
            complete = {backup.name for backup in self.list_backups()}
            found = {path.rsplit("/", 1)[-1]: path for path in self._target.list_folder(_DATA)}
            left = sorted(name for name in found.keys() - complete if self.is_local or self._is_old(found[name]))
            for name in left:
                self._target.delete_folder(f"{_DATA}/{name}")
        return left

    def hold_lock(self) -> AbstractContextManager[None]:
        """Let only one process at a time write into a directory. An object store has no lock."""
        return self._target.hold_lock(f"another backup to {self._address}")

    # --- files

    def upload_file(self, path: Path, name: str, backup: str) -> BackupFile:
        """Copy a file into a backup."""
        with self._target.translate_errors(), path.open("rb") as file:
            return self._write_pieces(f"{_DATA}/{backup}/{name}", name, iter(lambda: file.read(_PIECE_BYTES), b""))

    def download_file(self, file: BackupFile, backup: str, to: Path) -> None:
        """Copy a file of a backup, readable only for this user.

        Parameters
        ----------
        file : BackupFile
            The file, from a manifest.
        backup : str
            Name of the backup.
        to : Path
            Path of the copy, whose folder is created; an existing file is overwritten.

        Raises
        ------
        LoadError
            The file cannot be read, or is damaged; what was copied stays.
        """
        to.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        to.touch(mode=0o600)
        with to.open("wb") as target:
            for piece in self._read_pieces(f"{_DATA}/{backup}/{file.name}", file):
                target.write(piece)
            target.flush()
            os.fsync(target.fileno())

    def upload_result(self, key: str, pieces: Iterable[bytes]) -> BackupFile:
        """Add a result to the results that all backups share."""
        with self._target.translate_errors():
            return self._write_pieces(f"{_RESULTS}/{key}", key, pieces)

    def read_result(self, file: BackupFile) -> Iterator[bytes]:
        """Yield the bytes of a result that all backups share.

        Parameters
        ----------
        file : BackupFile
            The result, from a manifest.

        Yields
        ------
        bytes
            Pieces of at most 1 MiB.

        Raises
        ------
        LoadError
            The file cannot be read, or is damaged; the latter is known only at its end.
        """
        return self._read_pieces(f"{_RESULTS}/{file.name}", file)

    def delete_results(self, kept: set[str]) -> None:
        """Delete all results except the results with these keys."""
        with self._target.translate_errors():
            for path in self._target.list_folder(_RESULTS):
                if path.rsplit("/", 1)[-1] not in kept:
                    self._files.rm_file(path)

    # --- for ClickHouse

    def require_written(self, backup: str, folder: str, size: int) -> None:
        """Check that the engine has written a complete folder of a backup, which a full disk may silently prevent.

        Parameters
        ----------
        backup : str
            Name of the backup.
        folder : str
            Path of the folder within the backup.
        size : int
            Bytes that the engine reports to have written.

        Raises
        ------
        LoadError
            The folder of a directory has fewer bytes. In an object store nothing is checked.
        """
        if not self.is_local:
            return
        folder_path = Path(self._address) / _DATA / backup / folder
        written = sum(path.stat().st_size for path in folder_path.rglob("*") if path.is_file())
        if written < size:
            raise LoadError(
                f"no space left for the backup in {self._address}: {size / 1e6:,.1f} MB of tables were to be written, "
                f"and {written / 1e6:,.1f} MB were; free some space and start the same backup again"
            )

    def require_room(self, error: Exception) -> None:
        """Raise LoadError if the disk of a directory is full, which the engine may report as another error."""
        if self.is_local and shutil.disk_usage(self._address).free < _PIECE_BYTES:
            raise LoadError(f"no space left for the backup in {self._address}: free some space") from error

    def engine_location_sql(self, backup: str, folder: str) -> str:
        """Return the SQL of a folder of a backup, which ClickHouse writes and reads.

        The credentials and the endpoint of an object store come from the environment variables of the AWS tools. They
        are a part of the SQL.

        Parameters
        ----------
        backup : str
            Name of the backup.
        folder : str
            Path of the folder within the backup.

        Returns
        -------
        str
            ``File(...)`` or ``S3(...)``, for BACKUP and RESTORE.

        Raises
        ------
        LoadError
            ClickHouse cannot write to the target.
        """
        inside = f"{_DATA}/{backup}/{folder}"
        if self.is_local:
            return f"File({quote_string(f'{self._address}/{inside}')})"
        address = urlsplit(self._address)
        if address.scheme != "s3":
            raise LoadError(f"ClickHouse cannot write to {self._address}: give a directory, or s3://bucket/folder")
        endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or ""
        host = endpoint.rstrip("/") + f"/{address.netloc}" if endpoint else f"https://{address.netloc}.s3.amazonaws.com"
        key, secret = os.environ.get("AWS_ACCESS_KEY_ID"), os.environ.get("AWS_SECRET_ACCESS_KEY")
        url = f"{host}{address.path}/{inside}"
        return f"S3({', '.join(quote_string(text) for text in (url, key, secret) if text)})"

    def _write_pieces(self, path: str, name: str, pieces: Iterable[bytes]) -> BackupFile:
        size, digest = 0, hashlib.sha256()
        if self.is_local:
            self._files.makedirs(self._target.build_path(path).rsplit("/", 1)[0], exist_ok=True)
        with self._files.open(self._target.build_path(path), "wb") as target:
            for piece in pieces:
                target.write(piece)
                digest.update(piece)
                size += len(piece)
        return BackupFile(name=name, bytes=size, digest=digest.hexdigest())

    def _read_pieces(self, path: str, file: BackupFile) -> Iterator[bytes]:
        digest = hashlib.sha256()
        with self._target.translate_errors(), self._files.open(self._target.build_path(path), "rb") as source:
            while piece := source.read(_PIECE_BYTES):
                digest.update(piece)
                yield piece
        if digest.hexdigest() != file.digest:
            raise LoadError(f"{self._target.build_path(path)} is damaged: restore another backup")

    def _read_manifest(self, path: str) -> Manifest:
        document = self._files.cat_file(path)
        try:
            return Manifest.model_validate_json(document)
        except ValidationError as error:
            later = f'"version": {VERSION}'.encode() not in document
            why = "was made by a later version of Skyhouse" if later else "is damaged"
            raise LoadError(f"the backup {path} {why}: {error.errors()[0]['msg']}") from error

    def _is_old(self, folder: str) -> bool:
        changed = [entry.get("LastModified") for entry in self._files.find(folder, detail=True).values()]
        newest = max((each.timestamp() for each in changed if each is not None), default=0.0)
        return newest < time.time() - _MAX_RUNNING_SECONDS
