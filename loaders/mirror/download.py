"""Fetches one file of an origin and verifies it. After an interruption the rest is fetched, unless it has changed.

    NAME.part and NAME.part.json (its version) -> all bytes -> checksum -> fsync -> NAME

A file without the suffix is complete, so a killed process continues with the bytes that it has.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from clickhouse_schema.failpoints import Failpoint, reach
from loaders.load_error import LoadError
from loaders.mirror.disk_room import require_room
from loaders.mirror.file_list import OriginFile
from loaders.origin.origin_client import OriginAnswer, OriginClient
from loaders.origin.origin_error import OriginUnavailable

_MAX_BYTES = 1 << 45
_WRONG_SUMS = 3
_NO_RANGE = 416
_ANSWERS = frozenset({200, 206, _NO_RANGE})
_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+)")


class Download:
    """The download of ``file`` to ``target``. ``check``: is called regularly, and raises to stop the download."""

    def __init__(self, client: OriginClient, file: OriginFile, target: Path, check: Callable[[], None]) -> None:
        self._client = client
        self._file = file
        self._target = target
        self._part = target.with_name(target.name + ".part")
        self._version_file = target.with_name(target.name + ".part.json")
        self._check = check

    def fetch(self) -> str:
        """Fetch the missing bytes; return the SHA-256 of the complete file.

        Raises
        ------
        LoadError
            The file does not exist, its checksum stays wrong, or the disk has no space for it.
        OSError
        """
        if not self._target.exists():
            self._fetch_part()
        return hash_file(self._target, "sha256", self._check)

    def forget(self) -> None:
        """Delete the fetched bytes."""
        for path in (self._target, self._part, self._version_file):
            path.unlink(missing_ok=True)

    def _fetch_part(self) -> None:
        for attempt in range(1, _WRONG_SUMS + 1):
            self._fetch_bytes()
            found = hash_file(self._part, self._file.algorithm, self._check) if self._file.checksum else ""
            if found == self._file.checksum:
                break
            self.forget()
            if attempt == _WRONG_SUMS:
                raise LoadError(
                    f"{self._file.address} has the {self._file.algorithm.upper()} sum {found} instead of the"
                    f" published {self._file.checksum}, even when it is fetched again. If the origin has changed its"
                    " files, start again with --restart"
                )
        with self._part.open("rb") as file:
            os.fsync(file.fileno())
        os.replace(self._part, self._target)
        self._version_file.unlink(missing_ok=True)
        reach(Failpoint.MIRROR_FETCH)

    def _fetch_bytes(self) -> None:
        """Fetch all bytes; continue as long as each series of attempts fetches some."""
        while True:
            before = self._size
            try:
                self._client.repeat(self._fetch_once)
                return
            except OriginUnavailable:
                if self._size <= before:
                    raise

    @property
    def _size(self) -> int:
        return self._part.stat().st_size if self._part.exists() else 0

    def _fetch_once(self) -> None:
        self._check()
        version, size = self._read_version()
        have = self._size if version else 0
        if have and have == size:
            return
        headers = {"Range": f"bytes={have}-", "If-Range": version} if have else {}
        with self._client.stream("GET", self._file.address, headers, accepts=_ANSWERS) as answer:
            if answer.status == _NO_RANGE:  # all bytes are fetched, and the origin has not sent the size
                self.forget()
                raise OriginUnavailable(f"{self._file.address} sends no bytes after {have:,}", 0)
            start = have if _begins_at(answer, have) else 0
            total = self._start_version(answer, start)
            if total is not None:
                require_room(self._target.parent, self._file.name, total - start)
            self._write_body(answer, start)
        if total is not None and self._size != total:
            raise OriginUnavailable(f"{self._file.address} was interrupted after {self._size:,} of {total:,} bytes")

    def _write_body(self, answer: OriginAnswer, start: int) -> None:
        with self._part.open("r+b" if start else "wb") as part:
            part.seek(start)
            for piece in answer.read_pieces(_MAX_BYTES):
                part.write(piece)
                self._check()

    def _read_version(self) -> tuple[str, int | None]:
        """Return the version of the fetched bytes, and its size; '' if there is none."""
        with suppress(OSError, ValueError, KeyError, TypeError):
            found = json.loads(self._version_file.read_text())
            return str(found["version"]), found["size"]
        return "", None

    def _start_version(self, answer: OriginAnswer, start: int) -> int | None:
        """Record the version of the bytes to fetch; return its size, or None if the origin does not send it."""
        version = answer.headers.get("ETag", "")
        if not version or version.startswith("W/"):  # weak tags are not allowed for ranges (RFC 9110, section 13.1.5)
            version = answer.headers.get("Last-Modified", "")
        length = answer.headers.get("Content-Length", "")
        total = start + int(length) if re.fullmatch(r"\d{1,18}", length) else None
        if not start:
            self._part.unlink(missing_ok=True)
            self._version_file.write_text(json.dumps({"version": version, "size": total}))
        return total


def hash_file(path: Path, algorithm: str, check: Callable[[], None]) -> str:
    """Return the hexadecimal digest of a file; ``check`` is called regularly."""
    digest = hashlib.new(algorithm, usedforsecurity=False)
    with path.open("rb") as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
            check()
    return digest.hexdigest()


def _begins_at(answer: OriginAnswer, start: int) -> bool:
    """Whether the answer has the bytes from ``start`` of the same version. Raises ``OriginUnavailable`` for others."""
    if answer.status != 206:
        return False
    found = _RANGE.fullmatch(answer.headers.get("Content-Range", ""))
    if found is None or int(found[1]) != start:
        raise OriginUnavailable(f"{answer.address} sent other bytes than the bytes from {start:,}")
    return True
