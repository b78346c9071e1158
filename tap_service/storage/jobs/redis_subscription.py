"""Hearing of changes in Redis: one subscription for a process, from the first watcher on."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import redis

#: how soon the subscriber sees that it shall end, or tries again to reach Redis; in seconds
_TICK_SECONDS = 0.5


class ChannelWatch:
    """Tells who watches a name that it was said on ``channel``.

    What is said while Redis is out of reach is lost, so all are told when it is back.
    """

    def __init__(self, client: redis.Redis, channel: str) -> None:
        self._client = client
        self._channel = channel
        self._watchers: defaultdict[str, set[Callable[[], None]]] = defaultdict(set)
        self._lock = threading.Lock()
        self._tried = threading.Event()
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._listen, name="job-watch", daemon=True)

    @contextmanager
    def watch_name(self, name: str, notify: Callable[[], None]) -> Iterator[None]:
        with self._lock:
            if not self._thread.is_alive() and not self._closed.is_set():
                self._thread.start()
            self._watchers[name].add(notify)
        try:
            # what happens after this line is heard; if Redis cannot be reached, that it is back
            self._tried.wait()
            yield
        finally:
            with self._lock:
                self._watchers[name].discard(notify)
                if not self._watchers[name]:
                    del self._watchers[name]

    def close(self) -> None:
        self._closed.set()
        if self._thread.is_alive():
            self._thread.join()

    def _listen(self) -> None:
        while not self._closed.is_set():
            try:
                with self._client.pubsub() as subscription:  # type: ignore[no-untyped-call]
                    subscription.subscribe(self._channel)
                    while not self._closed.is_set():
                        self._handle_message(subscription.get_message(timeout=_TICK_SECONDS))
            except (redis.RedisError, OSError):
                self._tried.set()
                self._closed.wait(_TICK_SECONDS)

    def _handle_message(self, message: dict[str, Any] | None) -> None:
        if message is None:
            return
        if message["type"] == "subscribe":
            self._tried.set()
            self._notify_watchers(None)
        elif message["type"] == "message":
            self._notify_watchers(message["data"])

    def _notify_watchers(self, name: str | None) -> None:
        with self._lock:
            names = list(self._watchers) if name is None else [name]
            told = [notify for each in names for notify in self._watchers.get(each, ())]
        for notify in told:
            notify()
