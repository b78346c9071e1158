"""Reads items in separate threads, so that reading and processing overlap. The order of the items does not change."""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import islice
from typing import TypeVar

_Item = TypeVar("_Item")


@contextmanager
def read_ahead(items: Iterator[_Item], ahead: int = 1) -> Iterator[Iterator[_Item]]:
    """Read items in advance in a thread.

    Leaving the context ends the thread, after the item that it is reading.

    Parameters
    ----------
    items : iterator of Any
        The items; only the thread uses them.
    ahead : int, optional
        Maximum number of items that wait to be taken.

    Yields
    ------
    iterator of Any
        The items in their order. An error of ``items`` is raised where its next item would have been.
    """
    results: queue.Queue[tuple[_Item] | BaseException | None] = queue.Queue(maxsize=ahead)
    is_left = threading.Event()

    def put_result(result: tuple[_Item] | BaseException | None) -> None:
        while not is_left.is_set():
            try:
                results.put(result, timeout=0.1)
            except queue.Full:
                continue
            return

    def read_all() -> None:
        try:
            for item in items:
                put_result((item,))
                if is_left.is_set():
                    return
        except BaseException as error:
            put_result(error)
        put_result(None)

    def take_results() -> Iterator[_Item]:
        while (result := results.get()) is not None:
            if isinstance(result, BaseException):
                raise result
            yield result[0]

    thread = threading.Thread(target=read_all, name="reading ahead", daemon=True)
    thread.start()
    try:
        yield take_results()
    finally:
        is_left.set()
        thread.join()


def read_in_parallel(readers: Iterable[Callable[[], Iterator[_Item]]], threads: int, ahead: int) -> Iterator[_Item]:
    """Yield the items of all readers in order, reading several readers at a time.

    Parameters
    ----------
    readers : iterable of callable
        Each returns an iterator.
    threads : int
        Maximum number of readers that are read at a time.
    ahead : int
        Maximum number of items of a reader that wait to be taken.

    Raises
    ------
    Exception
        The error of a reader, where its next item would have been.
    """
    waiting = iter(readers)
    running: deque[tuple[ExitStack, Iterator[_Item]]] = deque()

    def start_readers() -> None:
        for reader in islice(waiting, threads - len(running)):
            context = ExitStack()
            running.append((context, context.enter_context(read_ahead(reader(), ahead))))

    try:
        start_readers()
        while running:
            yield from running[0][1]
            running.popleft()[0].close()
            start_readers()
    finally:
        with ExitStack() as all_running:
            for context, _ in running:
                all_running.push(context)
