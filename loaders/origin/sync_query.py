"""Small queries to ``/sync`` of an origin, such as queries of its TAP_SCHEMA."""

from __future__ import annotations

import tempfile
from pathlib import Path
from xml.parsers import expat

from loaders.origin.origin_client import OriginAnswer, OriginClient
from loaders.origin.origin_error import OriginError
from tap_service.readers.read_error import ReadError
from tap_service.readers.votable_reader import VotableSource

_MAX_ANSWER_BYTES = 64 << 20
_MAX_ROWS = 20_000
_MAX_MESSAGE = 500


def quote_text(text: str) -> str:
    """Return a text as a character literal of ADQL."""
    return "'" + text.replace("'", "''") + "'"


class SyncQueries:
    """Queries to one TAP service. ``address``: the address of the service, without ``/sync``."""

    def __init__(self, client: OriginClient, address: str) -> None:
        self._client = client
        self._address = f"{address}/sync"

    def ask(self, query: str) -> list[dict[str, str]]:
        """Return the rows of a query as texts by column, in lower case; NULLs are left out.

        Raises
        ------
        OriginError
            The origin rejects the query, or its answer is incomplete or cannot be read.
        """
        form = {"REQUEST": "doQuery", "LANG": "ADQL", "MAXREC": str(_MAX_ROWS), "QUERY": query}
        return self._client.post(self._address, form, self._take_rows)

    def _take_rows(self, answer: OriginAnswer) -> list[dict[str, str]]:
        with tempfile.NamedTemporaryFile(suffix=".vot") as file:
            status = _StatusReader()
            for piece in answer.read_pieces(_MAX_ANSWER_BYTES):
                file.write(piece)
                status.feed(piece)
            file.flush()
            if status.value == "ERROR":
                raise OriginError(f"{self._address} rejects the query: {status.message or 'it gives no reason'}")
            if status.value == "OVERFLOW":
                raise OriginError(f"{self._address} truncates the answer: its row limit is too low")
            try:
                return _read_rows(Path(file.name))
            except ReadError as error:
                raise OriginError(f"{self._address}: {str(error).replace(file.name, 'the answer')}") from None


def _read_rows(path: Path) -> list[dict[str, str]]:
    source = VotableSource(path)
    names = tuple(field.name for field in source.fields)
    rows: list[dict[str, str]] = []
    for block in source.read_blocks(names):
        if block.rejects:
            raise ReadError(f"{path}, row {block.rejects[0].where}: {block.rejects[0].reason}")
        rows += (
            {name.lower(): str(value) for name, value in row.items() if value not in (None, "")}
            for row in block.batch.to_pylist()
        )
    return rows


class _StatusReader:
    """Finds the last QUERY_STATUS of a VOTable (DALI 1.1, section 4.4.1), before or after its rows."""

    def __init__(self) -> None:
        self.value = ""
        self.text = ""
        self._is_inside = False
        self._is_broken = False
        self._parser = expat.ParserCreate(namespace_separator=" ")
        self._parser.StartDoctypeDeclHandler = self._stop
        self._parser.StartElementHandler = self._start_element
        self._parser.EndElementHandler = self._end_element
        self._parser.CharacterDataHandler = self._add_text

    @property
    def message(self) -> str:
        return " ".join(self.text.split())[:_MAX_MESSAGE]

    def feed(self, data: bytes) -> None:
        if self._is_broken:
            return
        try:
            self._parser.Parse(data, False)
        except (expat.ExpatError, ValueError, LookupError):  # the reader of the rows reports what is wrong
            self._is_broken = True

    def _stop(self, *_: object) -> None:
        raise ValueError("DOCTYPE")

    def _start_element(self, name: str, attributes: dict[str, str]) -> None:
        if name.rpartition(" ")[2] == "INFO" and attributes.get("name") == "QUERY_STATUS":
            self.value, self.text, self._is_inside = attributes.get("value", "").upper(), "", True

    def _end_element(self, _name: str) -> None:
        self._is_inside = False

    def _add_text(self, text: str) -> None:
        if self._is_inside and len(self.text) < _MAX_MESSAGE:
            self.text += text
