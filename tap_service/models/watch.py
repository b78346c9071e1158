"""A watch: a query that runs on the new rows of each addition to a table, with its runs and messages."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from tap_service.models.timestamps import add_seconds

#: maximum number of ended runs in a list
KEPT_RUNS = 50


class RunState(StrEnum):
    """The state of a run: WAITING for its turn, RUNNING as a job, then DONE, FAILED or MISSED.

    A run is MISSED if the rows of its addition are no longer kept.
    """

    WAITING = "WAITING"
    RUNNING = "RUNNING"
    DONE = "DONE"
    FAILED = "FAILED"
    MISSED = "MISSED"


class DeliveryState(StrEnum):
    """The state of a message: PENDING until it is DELIVERED, or GIVEN_UP after too many attempts."""

    PENDING = "PENDING"
    DELIVERED = "DELIVERED"
    GIVEN_UP = "GIVEN_UP"


@dataclass(frozen=True, slots=True)
class Delivery:
    """A message about one run to one target.

    Attributes
    ----------
    target : str
        ``webhook`` or ``mail``.
    due : datetime
        The instant of the next attempt.
    attempts : int
        The number of attempts; each attempt is recorded before it is made.
    error : str
        Why the last attempt failed; '' if no attempt failed.
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
    addition_id, number, added, added_rows : str, int, datetime, int
        The addition: its id, its number in the table, the instant at which it was recorded, and the number of its rows.
    due : datetime
        The earliest start.
    since : datetime
        The last change of the state.
    job_id : str
        The job of the last attempt; '' before the first.
    attempts : int
        The number of jobs since the run was requested, or requested again.
    rows : int
        The number of rows of the result.
    sample : str
        The first rows of the result in JSON, until the messages that contain them are delivered.
    deliveries : tuple of Delivery
        The messages about the run.
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
        """Whether the run has not ended."""
        return self.state in (RunState.WAITING, RunState.RUNNING)

    @property
    def is_settled(self) -> bool:
        """Whether the run has ended and all its messages are delivered or given up."""
        pending = any(delivery.state is DeliveryState.PENDING for delivery in self.deliveries)
        return not self.is_open and not pending


@dataclass(frozen=True, slots=True)
class Watch:
    """A watch. Instants are in UTC, cut to milliseconds.

    Attributes
    ----------
    name : str
        The name in lists and messages, unique among the watches of the owner.
    query : str
        The query in ADQL. Where it names ``table``, it reads only the rows of the addition.
    table : str
        The watched table, ``schema.table`` as stored.
    result_table : str
        The name in ``mydb`` of the table of results.
    since : int
        The number of the last addition before the watch was created.
    webhook, secret : str
        The URL to which messages are posted, and the key of their signatures; '' without a webhook.
    has_mail : bool
        Whether messages are mailed to the owner's address, which the operator has configured.
    is_paused : bool
        Whether the watch is paused. Additions are kept meanwhile, and run after the pause.
    rows, runs_done : int
        The number of rows that all runs found, and the number of successful runs.
    last_run : datetime or None
        The end of the last run.
    last_error : str
        The error of the last run; '' if it succeeded.
    runs : tuple of WatchRun
        The runs, oldest first. Old runs that have ended may be left out.
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
        """The schema and the name of the watched table."""
        schema, _, table = self.table.partition(".")
        return schema, table

    @property
    def last_number(self) -> int:
        """The highest number of the additions for which the watch has run or will run."""
        return max([self.since, *(run.number for run in self.runs)])

    def find_run(self, addition_id: str) -> WatchRun | None:
        """Return the run on an addition, None if there is none."""
        return next((run for run in self.runs if run.addition_id == addition_id), None)

    def change_run(self, addition_id: str, change: Callable[[WatchRun], WatchRun]) -> Watch:
        """Return the watch with one run changed.

        Parameters
        ----------
        addition_id : str
            The id of the addition to which the run belongs. Without such a run, the watch is returned as it is.
        change : Callable[[WatchRun], WatchRun]
            Returns the new run.
        """
        changed = tuple(change(run) if run.addition_id == addition_id else run for run in self.runs)
        return replace(self, runs=changed)

    def delivery_id(self, run: WatchRun, target: str) -> str:
        """Return the id of a message, the same in each attempt, by which receivers recognize repeated messages.

        Parameters
        ----------
        run : WatchRun
            The run of this watch that the message is about.
        target : str
            ``webhook`` or ``mail``.
        """
        return f"{self.watch_id}-{run.number}-{target}"


@dataclass(frozen=True, slots=True)
class JobWatch:
    """The watch and the addition of a job that is the run of a watch."""

    watch_id: str
    addition_id: str
    number: int
    result_table: str

    @property
    def token(self) -> str:
        """The token with which the run appends its rows to the table of results; the rows of a token are added once."""
        return f"{self.watch_id}/{self.addition_id}"


def read_addition_id(token: str) -> str:
    """Return the id of the addition in the token of a ``JobWatch``.

    Parameters
    ----------
    token : str
        A ``JobWatch.token``.
    """
    return token.rpartition("/")[2]


def make_watch_id() -> str:
    """Return a new random id of a watch."""
    return f"w{secrets.token_hex(8)}"


#: seconds to wait after each failed attempt of a delivery; after the last wait and attempt the delivery is given up
_PATIENCE = (10, 30, 120, 600, 1800, 7200, 21_600, 43_200)


def note_attempt(delivery: Delivery, at: datetime, seconds: float) -> Delivery:
    """Return the delivery at the start of an attempt.

    Parameters
    ----------
    delivery : Delivery
        The delivery.
    at : datetime
        The present instant.
    seconds : float
        Seconds after which the next attempt is due, unless the end of this one is recorded before.
    """
    return replace(delivery, attempts=delivery.attempts + 1, due=add_seconds(at, seconds))


def end_attempt(delivery: Delivery, at: datetime, error: str, *, is_final: bool = False) -> Delivery:
    """Return the delivery at the end of an attempt.

    Parameters
    ----------
    delivery : Delivery
        The delivery.
    at : datetime
        The present instant.
    error : str
        Why the attempt failed; '' if the message was delivered.
    is_final : bool
        Whether further attempts cannot succeed.
    """
    if not error:
        return replace(delivery, state=DeliveryState.DELIVERED, error="")
    if is_final or delivery.attempts > len(_PATIENCE):
        return replace(delivery, state=DeliveryState.GIVEN_UP, error=error)
    return replace(delivery, due=add_seconds(at, _PATIENCE[delivery.attempts - 1]), error=error)
