"""Queries a table of a TAP service by jobs (UWS 1.1, TAP 1.1), one at a time; each is deleted at its end."""

from __future__ import annotations

import html
import os
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from clickhouse_schema.reserved_words import name_to_adql
from loaders.load_error import LoadError
from loaders.origin.origin_client import OriginAnswer, OriginClient
from loaders.origin.origin_error import OriginError
from tap_service.readers.file_formats import open_source
from tap_service.readers.read_error import ReadError

_MAX_TEXT_BYTES = 1 << 20
_MAX_CAPABILITIES_BYTES = 8 << 20
_MAX_RESULT_BYTES = 1 << 40

#: The first and the longest pause between two requests for the phase of a job, in seconds
_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 20.0

_OUTPUT_LIMIT = re.compile(r"<(?:\w+:)?outputLimit\b.*?</(?:\w+:)?outputLimit\s*>", re.S)
_HARD_LIMIT = re.compile(r"<(?:\w+:)?hard\b[^>]*unit\s*=\s*[\"']row[\"'][^>]*>\s*(\d{1,18})\s*<")
_TABLE = re.compile(r'(?:"[^"]+"|[^".\s]+)(?:\.(?:"[^"]+"|[^".\s]+)){0,2}')
_PART = re.compile(r'"[^"]+"|[^".]+')


class TapTable:
    """``table`` of the service at ``address``, an http or https URL. ``check``: is called while waiting."""

    def __init__(self, client: OriginClient, address: str, table: str, check: Callable[[], None]) -> None:
        if not _TABLE.fullmatch(table):
            raise LoadError(
                f"{table!r} is not the name of a table: write schema.table, and names with special characters in quotes"
            )
        self._client = client
        self.address = address
        self.name = table
        self.table_adql = ".".join(
            part if part.startswith('"') else name_to_adql(part) for part in _PART.findall(table)
        )
        self._check = check

    def read_row_limit(self) -> int | None:
        """Return the service's row limit; None if it does not publish one."""
        text = self._client.get(f"{self.address}/capabilities", _read_all(_MAX_CAPABILITIES_BYTES))
        limits = [int(number) for part in _OUTPUT_LIMIT.findall(text) for number in _HARD_LIMIT.findall(part)]
        return min(limits, default=None)

    def fetch_values(self, expressions: str, condition: str, target: Path) -> list[Any]:
        """Return the values of one row, such as counts. ``target``: a temporary file."""
        query = f"SELECT {expressions} FROM {self.table_adql}{write_where(condition)}"
        self.fetch_rows(query, 10, target)
        try:
            source = open_source(target)
            names = tuple(field.name for field in source.fields)
            rows = [row for block in source.read_blocks(names) for row in block.batch.to_pylist()]
        except ReadError as error:
            raise LoadError(f"{self.address} returned a result that cannot be read: {error}") from error
        finally:
            target.unlink(missing_ok=True)
        if len(rows) != 1:
            raise LoadError(f"{self.address} returned {len(rows)} rows instead of one: {query}")
        return list(rows[0].values())

    def fetch_rows(self, query: str, max_rows: int, target: Path) -> None:
        """Run a query and save its result, a VOTable, which appears at ``target`` when it is complete.

        Raises
        ------
        LoadError
            The service rejects the query; the message quotes it.
        """
        form = {
            "REQUEST": "doQuery",
            "LANG": "ADQL",
            "QUERY": query,
            "MAXREC": str(max_rows),
            "PHASE": "RUN",
        }
        job = self._client.post(f"{self.address}/async", form, lambda answer: answer.address)
        try:
            self._wait(job, query)
            self._save_result(f"{job}/results/result", target)
        finally:
            self._delete(job)

    def _wait(self, job: str, query: str) -> None:
        pause = _FIRST_PAUSE
        while (phase := self._client.get(f"{job}/phase", _read_all(_MAX_TEXT_BYTES)).strip()) != "COMPLETED":
            if phase in ("ERROR", "ABORTED", "ARCHIVED"):
                raise LoadError(f"{self.address} rejects {query}: {self._read_error(job) or phase}")
            if phase == "PENDING":
                self._client.post(f"{job}/phase", {"PHASE": "RUN"}, lambda answer: answer.status)
            self._pause(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    def _pause(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            self._check()
            time.sleep(min(left, 0.2))

    def _read_error(self, job: str) -> str:
        try:
            text = self._client.get(f"{job}/error", _read_all(_MAX_TEXT_BYTES))
        except OriginError:
            return ""
        found = re.search(r"<INFO\b[^>]*value=\"ERROR\"[^>]*>(.*?)</INFO>", text, re.S)
        words = html.unescape(re.sub(r"<[^>]*>", " ", found[1] if found else text))
        return " ".join(words.split())[:500]

    def _save_result(self, address: str, target: Path) -> None:
        part = target.with_name(target.name + ".part")

        def save(answer: OriginAnswer) -> None:
            with part.open("wb") as file:
                for piece in answer.read_pieces(_MAX_RESULT_BYTES):
                    file.write(piece)
                    self._check()
                os.fsync(file.fileno())

        self._client.get(address, save)
        os.replace(part, target)

    def _delete(self, job: str) -> None:
        try:
            self._client.post(job, {"ACTION": "DELETE"}, lambda answer: answer.status)
        except OriginError:
            return  # the service deletes it by itself


def write_where(condition: str) -> str:
    """Return the WHERE clause of a condition; '' without one."""
    return f" WHERE {condition}" if condition else ""


def _read_all(max_bytes: int) -> Callable[[OriginAnswer], str]:
    return lambda answer: b"".join(answer.read_pieces(max_bytes)).decode("utf-8", "replace")


def count_file_rows(path: Path) -> int:
    """Read a table file and return the number of its rows. Raises ``ReadError``."""
    source = open_source(path)
    name = (source.fields[0].name,)
    return sum(block.batch.num_rows + len(block.rejects) for block in source.read_blocks(name))
