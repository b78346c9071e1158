"""The body of ClickHouse's HTTP response: bytes, Arrow batches, or an error message in it.

The status is 200 from the first byte on. A later error is text in the body between markers with the tag of the header
X-ClickHouse-Exception-Tag (servers before 25.11 write only the text), after which the server truncates the body:

    __exception__\\r\\n<tag>\\r\\n<message>\\n<length> <tag>\\r\\n__exception__\\r\\n
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Generator, Iterator
from contextlib import suppress
from http.client import HTTPException

import pyarrow as pa
from urllib3.exceptions import HTTPError, ReadTimeoutError
from urllib3.response import BaseHTTPResponse

from tap_service.storage.engine.engine import EngineError, EngineSilent, EngineUnavailable
from tap_service.storage.engine.engine_errors import translate_error

_TAG = "X-ClickHouse-Exception-Tag"
_MARK = b"__exception__"
_MESSAGE = re.compile(
    r"Code: \d+\. [\w:]*Exception: .*?(?=\r?\n\d+ \w+\r?\n__exception__|\r?\n__exception__|\Z)", re.DOTALL
)

#: the server's messages have at most 16 kB
_TAIL_BYTES = 20_000
_PIECE_BYTES = 1 << 20

#: the end mark of an Arrow stream; without it, pyarrow accepts a stream that ends between two batches
_END = b"\xff\xff\xff\xff\x00\x00\x00\x00"

#: the exceptions of a broken connection
CONNECTION_ERRORS = (HTTPError, HTTPException, OSError)


def connection_error(error: Exception) -> EngineUnavailable:
    """Return the ``EngineError`` for an exception of ``CONNECTION_ERRORS``."""
    kind = EngineSilent if isinstance(error, ReadTimeoutError) else EngineUnavailable
    return kind("the connection to the engine broke", detail=repr(error))


class ResponseBody:
    """The body of a response.

    One thread reads it once; any thread may call ``interrupt_reader``. Raises only ``EngineError``.
    """

    def __init__(self, response: BaseHTTPResponse) -> None:
        self._response = response
        self._pieces = response.stream(_PIECE_BYTES, decode_content=False)
        tag = response.headers.get(_TAG)
        self._mark = _MARK + b"\r\n" + tag.encode() if tag else None
        self._waiting: deque[bytes] = deque()
        self._size = 0
        self._tail = b""
        self._schema: pa.Schema | None = None
        #: whether the query has ended in the server: the body was read completely, or contains an error
        self.ended = False
        self.closed = False

    def check_empty(self) -> None:
        """Read the body of a statement without a result, which can only contain an error."""
        self._read_to_end()
        if self._tail:
            raise self._find_error() or EngineUnavailable("the engine's answer cannot be read", detail=repr(self._tail))

    def read_batches(self, batch_rows: int) -> Iterator[pa.RecordBatch]:
        """Yield the batches of an Arrow stream in slices of at most ``batch_rows`` rows."""
        for batch in self._read_arrow():
            for start in range(0, batch.num_rows, batch_rows):
                yield batch.slice(start, batch_rows)

    def read_table(self) -> pa.Table:
        """Read an Arrow stream to its end."""
        batches = list(self._read_arrow())
        return pa.Table.from_batches(batches, self._schema)

    def close(self) -> None:
        """Release the connection. It is reused only if the body was read to its end."""
        self.closed = True
        if not self.ended:
            self._response.close()
        self._response.release_conn()

    def interrupt_reader(self) -> None:
        """Wake the thread that waits for bytes of this body."""
        with suppress(ValueError, RuntimeError, OSError):  # the body has just ended
            self._response.shutdown()

    def _read_arrow(self) -> Iterator[pa.RecordBatch]:
        try:
            reader = pa.ipc.open_stream(pa.PythonFile(self, mode="r"))
            self._schema = reader.schema
            yield from reader
        except (pa.ArrowException, OSError) as error:
            self._read_message()
            raise self._find_error() or EngineUnavailable(
                "the engine's answer ends early", detail=repr(error)
            ) from error
        self._read_to_end()
        if not self._tail.endswith(_END):
            raise self._find_error() or EngineUnavailable(
                "the engine's answer is incomplete", detail=repr(self._tail[-200:])
            )

    # --- the file interface for pyarrow -------------------------------------------------------------------------------

    def readable(self) -> bool:
        return True

    def read(self, size: int) -> bytes:
        """Read ``size`` bytes, fewer at the end."""
        while self._size < size and self._take_piece():
            pass
        parts, missing = [], size
        while missing and self._waiting:
            piece = self._waiting.popleft()
            if len(piece) > missing:
                self._waiting.appendleft(piece[missing:])
                piece = piece[:missing]
            parts.append(piece)
            missing -= len(piece)
        taken = b"".join(parts)
        self._size -= len(taken)
        return taken

    # --- pieces from the server ---------------------------------------------------------------------------------------

    def _take_piece(self) -> bool:
        """Receive the next piece; return False at the end."""
        try:
            piece = next(self._pieces, b"")
        except CONNECTION_ERRORS as error:
            raise self._find_error() or connection_error(error) from error
        if not piece:
            self.ended = True
            return False
        self._keep_tail(piece)
        if self._mark is not None and self._mark in self._tail:
            self._read_message()
            raise self._find_error() or EngineUnavailable(
                "the engine failed without a message", detail=repr(self._tail)
            )
        self._waiting.append(piece)
        self._size += len(piece)
        return True

    def _keep_tail(self, piece: bytes) -> None:
        before = b"" if len(piece) >= _TAIL_BYTES else self._tail
        self._tail = (before + piece)[-_TAIL_BYTES:]

    def _read_to_end(self) -> None:
        while self._take_piece():
            self._waiting.clear()
            self._size = 0

    def _read_message(self) -> None:
        """Read the rest of an error message, after which the server truncates the body."""
        with suppress(*CONNECTION_ERRORS):
            for piece in self._pieces:
                self._keep_tail(piece)

    def _find_error(self) -> EngineError | None:
        """Return the error at the end of the received bytes, None if there is none."""
        start = self._tail.find(self._mark or _MARK)
        words = _MESSAGE.search(self._tail[max(start, 0) :].decode(errors="replace"))
        if words is None:
            return None
        self.ended = True
        return translate_error(words[0].strip())


def write_arrow_stream(batches: list[pa.RecordBatch]) -> Generator[bytes, None, None]:
    """Yield the pieces of an Arrow stream of batches that have one schema."""
    sink = _PieceSink()
    with pa.ipc.new_stream(pa.PythonFile(sink, mode="w"), batches[0].schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
            yield sink.take_bytes()
    yield sink.take_bytes()


class _PieceSink:
    """A file whose written bytes can be taken out."""

    closed = False

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: bytes) -> int:
        self._parts.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        """Required by pyarrow; nothing is buffered."""

    def take_bytes(self) -> bytes:
        parts, self._parts = self._parts, []
        return b"".join(parts)
