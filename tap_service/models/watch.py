"""A watch: a query that runs on the new rows of each addition to a table, and where its results go."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from tap_service.models.timestamps import add_seconds

#: runs that have ended and are told in lists
KEPT_RUNS = 50


class RunState(StrEnum):
    """WAITING for its turn; RUNNING as a job; then one of the others. MISSED: its rows are kept no more."""

    WAITING = "WAITING"
    RUNNING = "RUNNING"
    DONE = "DONE"
    FAILED = "FAILED"
    MISSED = "MISSED"


class DeliveryState(StrEnum):
    PENDING = "PENDING"
    DELIVERED = "DELIVERED"
    GIVEN_UP = "GIVEN_UP"


@dataclass(frozen=True, slots=True)
class Delivery:
    """A message about one run to one target.

    Attributes
    ----------
    target
        ``webhook`` or ``mail``.
    attempts
        How often it was tried; each attempt is noted before it is made.
    due
        When it is tried next.
    error
        Why the last attempt failed; '' if none has.
    """

    target: str
    due: datetime
    state: DeliveryState = DeliveryState.PENDING
    attempts: int = 0
    error: str = ""


@dataclass(frozen=True, slots=True)
class WatchRun:
    """The run of a watch on one addition.

    Attributes
    ----------
    addition_id, number, added, added_rows
        The addition: its id, its number in the table, when it was recorded, and its rows.
    due
        When it may start.
    since
        When its state last changed.
    job_id
        Of the last attempt; '' before the first.
    attempts
        Jobs that it has had since it was last asked for.
    rows
        Rows of the result.
    sample
        The first rows of the result in JSON, while a message that tells them is to be delivered.
    """

    addition_id: str
    number: int
    added: datetime
    added_rows: int
    due: datetime
    since: datetime
    state: RunState = RunState.WAITING
    job_id: str = ""
    attempts: int = 0
    rows: int = 0
    error: str = ""
    sample: str = ""
    deliveries: tuple[Delivery, ...] = ()

    @property
    def is_open(self) -> bool:
        return self.state in (RunState.WAITING, RunState.RUNNING)

    @property
    def is_settled(self) -> bool:
        """Whether nothing about it is to be done any more."""
        pending = any(delivery.state is DeliveryState.PENDING for delivery in self.deliveries)
        return not self.is_open and not pending


@dataclass(frozen=True, slots=True)
class Watch:
    """One watch. Instants are in UTC, cut to milliseconds.

    Attributes
    ----------
    name
        Unique for its owner, who reads it in lists and messages.
    query
        ADQL; where it names ``table``, it reads the rows of the addition alone.
    table
        The watched table, ``schema.table`` as stored.
    result_table
        Name in ``mydb`` of the table of its results.
    since
        Number of the last addition that is older than the watch.
    webhook, secret
        Where messages are posted, and the key of their signatures; '' without a webhook.
    has_mail
        Whether messages go to the address that the operator has for the owner.
    is_paused
        Additions are kept meanwhile, and run when it goes on.
    rows, runs_done
        Rows that it has added, and runs that are done.
    runs
        The oldest first; those that have ended and are not among the last may be left out.
    """

    watch_id: str
    owner: str
    name: str
    created: datetime
    query: str
    table: str
    result_table: str
    since: int
    webhook: str = ""
    secret: str = ""
    has_mail: bool = False
    is_paused: bool = False
    rows: int = 0
    runs_done: int = 0
    last_run: datetime | None = None
    last_error: str = ""
    runs: tuple[WatchRun, ...] = ()

    @property
    def table_key(self) -> tuple[str, str]:
        schema, _, table = self.table.partition(".")
        return schema, table

    @property
    def last_number(self) -> int:
        """The highest number of an addition that it knows."""
        return max([self.since, *(run.number for run in self.runs)])

    def find_run(self, addition_id: str) -> WatchRun | None:
        return next((run for run in self.runs if run.addition_id == addition_id), None)

    def change_run(self, addition_id: str, change: Callable[[WatchRun], WatchRun]) -> Watch:
        """Return the watch with one of its runs changed."""
        changed = tuple(change(run) if run.addition_id == addition_id else run for run in self.runs)
        return replace(self, runs=changed)

    def delivery_id(self, run: WatchRun, target: str) -> str:
        """Return what identifies a message, the same in each attempt."""
        return f"{self.watch_id}-{run.number}-{target}"


@dataclass(frozen=True, slots=True)
class JobWatch:
    """Of which watch and addition a job is the run."""

    watch_id: str
    addition_id: str
    number: int
    result_table: str

    @property
    def token(self) -> str:
        """What marks its rows in the table of results."""
        return f"{self.watch_id}/{self.addition_id}"


def read_addition_id(token: str) -> str:
    """Return the addition in the token of a ``JobWatch``."""
    return token.rpartition("/")[2]


def make_watch_id() -> str:
    return f"w{secrets.token_hex(8)}"


#: seconds after each failed attempt of a delivery; then it is given up
_PATIENCE = (10, 30, 120, 600, 1800, 7200, 21_600, 43_200)


def note_attempt(delivery: Delivery, at: datetime, seconds: float) -> Delivery:
    """Return the delivery when an attempt begins; another one is due if this one is not noted within ``seconds``."""
    return replace(delivery, attempts=delivery.attempts + 1, due=add_seconds(at, seconds))


def end_attempt(delivery: Delivery, at: datetime, error: str, *, is_final: bool = False) -> Delivery:
    """Return the delivery when an attempt has ended; ``error`` '' if it was delivered, ``is_final`` if it never can."""
    if not error:
        return replace(delivery, state=DeliveryState.DELIVERED, error="")
    if is_final or delivery.attempts > len(_PATIENCE):
        return replace(delivery, state=DeliveryState.GIVEN_UP, error=error)
    return replace(delivery, due=add_seconds(at, _PATIENCE[delivery.attempts - 1]), error=error)
