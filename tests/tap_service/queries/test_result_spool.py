"""The spool: order, limits, and freed memory and disk."""

from __future__ import annotations

import asyncio
import random
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tap_service.models.client import find_client_key
from tap_service.scratch_files import NoRoom
from tap_service.services.queries.spool import Spool, SpoolClosed, SpoolStore

SHARE = 16


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SpoolStore]:
    """A store with 1000 bytes of memory for one result and 10,000 bytes of disk."""
    store = SpoolStore(1000 * SHARE, 10_000, tmp_path)
    yield store
    store.close()


async def read_all(spool: Spool) -> bytes:
    return b"".join([piece async for piece in spool.read_pieces()])


def test_memory_then_file_in_order(store: SpoolStore) -> None:
    async def run() -> None:
        spool = store.open_spool()
        parts = [bytes([number]) * 300 for number in range(20)]
        for part in parts:
            spool.write(part)
        assert (store.memory.used, store.disk.used) == (900, 17 * 300)
        spool.end()
        assert await read_all(spool) == b"".join(parts)
        assert (store.memory.used, store.disk.used) == (0, 0)
        assert not await spool.wait_readable()
        spool.close()

    asyncio.run(run())


def test_after_the_file_memory_again(store: SpoolStore) -> None:
    async def run() -> None:
        spool = store.open_spool()
        pieces = spool.read_pieces()
        for round_ in (b"a", b"b"):
            spool.write(round_ * 900)
            spool.write(round_ * 900)
            assert (store.memory.used, store.disk.used) == (900, 900)
            assert await anext(pieces) + await anext(pieces) == round_ * 1800
            assert (store.memory.used, store.disk.used) == (0, 0)
        spool.close()

    asyncio.run(run())


def test_a_reader_that_keeps_up_needs_no_room(store: SpoolStore) -> None:
    """Data of ten times the size of the spool pass through it."""
    parts = [random.Random(number).randbytes(700) for number in range(300)]

    async def run() -> bytes:
        spool = store.open_spool()
        room = threading.Semaphore(8)

        def write() -> None:
            for part in parts:
                room.acquire()
                spool.write(part)
            spool.end()

        thread = threading.Thread(target=write)
        thread.start()
        received = b""
        given_back = 0
        async for piece in spool.read_pieces():
            received += piece
            while len(received) // 700 > given_back:
                given_back += 1
                room.release()
        thread.join()
        return received

    assert asyncio.run(run()) == b"".join(parts)
    assert (store.memory.used, store.disk.used) == (0, 0)


def test_a_large_file_is_given_back_in_segments(tmp_path: Path) -> None:
    store = SpoolStore(1000 * SHARE, 2000 * SHARE, tmp_path)

    async def run() -> None:
        spool = store.open_spool()
        for number in range(10):
            spool.write(bytes([number]) * 1000)
        assert store.disk.used == 9000
        pieces = spool.read_pieces()
        assert await anext(pieces) == bytes([0]) * 1000
        assert await anext(pieces) == bytes([1]) * 1000 + bytes([2]) * 1000
        assert store.disk.used == 7000
        spool.close()

    asyncio.run(run())
    store.close()


def test_full(store: SpoolStore) -> None:
    async def run() -> None:
        spool = store.open_spool()
        spool.write(b"x" * 10_000)
        with pytest.raises(NoRoom, match="the 10000 bytes that this service holds"):
            spool.write(b"y" * 1000)
        spool.write(b"last words", anyway=True)
        spool.end()
        assert await read_all(spool) == b"x" * 10_000 + b"last words"
        assert store.disk.used == 0

    asyncio.run(run())


def test_a_closed_spool_tells_its_writer(store: SpoolStore) -> None:
    async def run() -> None:
        spool = store.open_spool()
        spool.write(b"x" * 900)
        spool.write(b"x" * 900)
        spool.close()
        assert (store.memory.used, store.disk.used) == (0, 0)
        with pytest.raises(SpoolClosed):
            spool.write(b"y")
        assert not await spool.wait_readable()

    asyncio.run(run())


def test_the_end_without_bytes(store: SpoolStore) -> None:
    async def run() -> None:
        spool = store.open_spool()
        waiting = asyncio.create_task(spool.wait_readable())
        threading.Thread(target=spool.end).start()
        assert await waiting is False
        spool.close()

    asyncio.run(run())


def test_files_have_no_names(store: SpoolStore, tmp_path: Path) -> None:
    async def run() -> None:
        spool = store.open_spool()
        spool.write(b"x" * 2000)
        assert list(tmp_path.iterdir()) == []
        spool.close()

    asyncio.run(run())
    store.check_disk()
    assert list(tmp_path.iterdir()) == []


def test_no_disk_for_files(tmp_path: Path) -> None:
    store = SpoolStore(0, 1000, tmp_path / "missing")

    async def run() -> None:
        with pytest.raises(FileNotFoundError):
            store.open_spool().write(b"x")

    asyncio.run(run())
    assert store.disk.used == 0
    with pytest.raises(FileNotFoundError):
        store.check_disk()
    store.close()


def test_anonymous_clients_leave_room_for_users(tmp_path: Path) -> None:
    store = SpoolStore(0, 10_000, tmp_path, 3000, 5000)

    async def run() -> None:
        anonymous = [store.open_spool(find_client_key(None, f"192.0.2.{number}")) for number in range(3)]
        for spool in anonymous[:2]:
            spool.write(b"x" * 2400)
        with pytest.raises(NoRoom, match="the 5000 bytes that this service holds for slow clients"):
            anonymous[2].write(b"x" * 2400)
        users = [store.open_spool(find_client_key(user, "192.0.2.1")) for user in ("alice", "bob")]
        for spool in users:
            spool.write(b"y" * 2500)
        for spool in (*anonymous, *users):
            spool.close()
        assert (store.disk.used, store.open_disk.used) == (0, 0)

    asyncio.run(run())
    store.close()


def test_one_client_leaves_room_for_others(tmp_path: Path) -> None:
    """A client has a quarter of the memory, and a separate limit of disk, for all its results together."""
    store = SpoolStore(1000 * SHARE, 20_000, tmp_path, 3000)

    async def run() -> None:
        mine = [store.open_spool("me") for _ in range(8)]
        for spool in mine[:6]:
            spool.write(b"x" * 900)
        assert (store.memory.used, store.disk.used) == (4 * 900, 2 * 900)
        with pytest.raises(NoRoom, match="read them first"):
            mine[6].write(b"x" * 1300)
        other = store.open_spool("another")
        other.write(b"y" * 900)
        other.write(b"y" * 2000)
        assert (store.memory.used, store.disk.used) == (5 * 900, 2 * 900 + 2000)
        mine[5].close()
        mine[6].write(b"x" * 1300)
        for spool in (*mine, other):
            spool.close()
        assert (store.memory.used, store.disk.used) == (0, 0)

    asyncio.run(run())
    store.close()
