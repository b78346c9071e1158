"""The entry point of clickhouse-local in chDB's library, which chDB's own interface cannot call.

clickhouse-local can listen for clients, which makes it a server. Its entry point ``int f(int argc, char ** argv)`` is
not among the library's exported names. It is the only function that writes the virtual table of ``DB::LocalServer``,
and is found by the name of that class in the library's type information. For x86-64 Linux.
"""

from __future__ import annotations

import ctypes
import json
import mmap
import os
import platform
import struct
import sys
from pathlib import Path

import numpy as np

IS_SUPPORTED = sys.platform == "linux" and platform.machine() == "x86_64"

_CLASS_NAME = b"N2DB11LocalServerE\0"

#: kinds of segments, the tags of the relocation table and of its size, and the kind of a relocation by the base address
_LOAD, _DYNAMIC, _NOTE, _UNWIND = 1, 2, 4, 0x6474E550
_RELOCATIONS, _RELOCATIONS_SIZE, _RELATIVE = 7, 8, 8
_IS_EXECUTABLE = 1

_SEARCH_BYTES = 1 << 26


def run_clickhouse_local(arguments: list[str]) -> int:
    """Run clickhouse-local in this process; returns when it ends."""
    import chdb  # loads the library

    library = next(Path(chdb.__file__).parent.glob("_chdb*.so"))
    with Path("/proc/self/maps").open() as maps:
        base = next(int(line.split("-")[0], 16) for line in maps if library.name in line)
    entry = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.POINTER(ctypes.c_char_p))(base + _find_entry(library))
    words = [b"clickhouse-local", *(word.encode() for word in arguments), None]
    return int(entry(len(words) - 1, (ctypes.c_char_p * len(words))(*words)))


def _find_entry(library: Path) -> int:
    """Return the entry's address in the library.

    The search takes seconds, so the environment keeps its result for each build.
    """
    with library.open("rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as content:
        found = _Library(content)
        kept = Path(sys.prefix) / f"chdb-entry-{found.build_id}.json"
        if not kept.exists():
            written = kept.with_suffix(f".{os.getpid()}")
            written.write_text(json.dumps(found.find_entry()))
            written.replace(kept)
    return int(json.loads(kept.read_text()))


class _Library:
    """A shared library as a file (ELF, 64 bits)."""

    def __init__(self, content: mmap.mmap) -> None:
        self._content = content
        (start,) = struct.unpack_from("<Q", content, 32)
        (count,) = struct.unpack_from("<H", content, 56)
        self._segments = [struct.unpack_from("<IIQQQQQQ", content, start + 56 * number) for number in range(count)]
        note_start, _, note_size = self._find_segment(_NOTE)
        self.build_id = content[note_start + 16 : note_start + note_size].hex()

    def find_entry(self) -> int:
        addresses, values = self._read_relocations()
        name = self._find_address(self._content.find(_CLASS_NAME))
        type_information = int(addresses[values == name][0]) - 8
        table = int(addresses[values == type_information].min()) - 8
        functions = {self._find_function(reference) for reference in self._find_references(table)}
        if len(functions) != 1:
            raise RuntimeError(f"{len(functions)} functions of this chDB may be the entry of clickhouse-local, not 1")
        return functions.pop()

    def _find_segment(self, kind: int) -> tuple[int, int, int]:
        """Return the first segment of a kind: offset in the file, address and size."""
        return next((start, address, size) for type_, _, start, address, _, size, *_ in self._segments if type_ == kind)

    def _find_address(self, offset: int) -> int:
        """Return the address of an offset in the file."""
        for kind, _, start, address, _, size, *_ in self._segments:
            if kind == _LOAD and start <= offset < start + size:
                return address + offset - start
        raise ValueError(f"no segment has {offset}")

    def _find_offset(self, address: int) -> int:
        for kind, _, start, first, _, size, *_ in self._segments:
            if kind == _LOAD and first <= address < first + size:
                return start + address - first
        raise ValueError(f"no segment has {address}")

    def _read_relocations(self) -> tuple[np.ndarray, np.ndarray]:
        """Return addresses and values of the pointers that depend only on the base address."""
        start, _, size = self._find_segment(_DYNAMIC)
        tags = dict(struct.iter_unpack("<QQ", self._content[start : start + size]))
        offset = self._find_offset(tags[_RELOCATIONS])
        table = np.frombuffer(self._content[offset : offset + tags[_RELOCATIONS_SIZE]], "<i8").reshape(-1, 3)
        table = table[(table[:, 1] & 0xFFFFFFFF) == _RELATIVE]
        return table[:, 0], table[:, 2]

    def _find_references(self, target: int) -> list[int]:
        """Return the addresses in the code whose next four bytes are the distance to ``target``."""
        start, first, size = next(
            (start, address, size)
            for kind, flags, start, address, _, size, *_ in self._segments
            if kind == _LOAD and flags & _IS_EXECUTABLE
        )
        found: list[int] = []
        for begin in range(0, size, _SEARCH_BYTES):
            code = self._content[start + begin : start + min(begin + _SEARCH_BYTES + 3, size)]
            for shift in range(4):
                distances = np.frombuffer(code, "<i4", (len(code) - shift) // 4, shift)
                ends = np.arange(len(distances), dtype=np.int64) * 4 + (first + begin + shift + 4)
                found += (ends[distances + ends == target] - 4).tolist()
        return found

    def _find_function(self, address: int) -> int:
        """Return the start of the function that contains an address, from the table for unwinding."""
        start, first, _ = self._find_segment(_UNWIND)
        (count,) = struct.unpack_from("<I", self._content, start + 8)
        pairs = np.frombuffer(self._content[start + 12 : start + 12 + 8 * count], "<i4").reshape(-1, 2)
        starts = pairs[:, 0].astype(np.int64) + first
        return int(starts[np.searchsorted(starts, address, "right") - 1])
