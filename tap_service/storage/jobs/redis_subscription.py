"""Notifications from Redis, by one subscription for each process, which starts with the first watcher."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import redis

#: interval at which the subscriber checks whether it is closed, and tries to reach Redis again
_TICK_SECONDS = 0.5


class ChannelWatch:
    """Calls the watchers of a name when the name is published on a channel.

    Messages during an outage of Redis are lost, so all watchers are called when it answers again.
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
        """Call ``notify``, from another thread, for each message ``name`` during the context."""
        with self._lock:
            if not self._thread.is_alive() and not self._closed.is_set():
                self._thread.start()
            self._watchers[name].add(notify)
        try:
            # from here on no message is missed: either subscribed, or called when Redis answers again
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
            watchers = [notify for each in names for notify in self._watchers.get(each, ())]
        for notify in watchers:
            notify()
