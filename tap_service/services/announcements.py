"""Announcements of the operator: draining, downtimes, and notes for users."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tap_service.models.timestamps import format_instant, now, parse_instant
from tap_service.service_errors import ServiceDraining
from tap_service.services.periodic_thread import PeriodicThread
from tap_service.storage.site_state import SiteState, SiteStateUnavailable, StateKind

_log = logging.getLogger("skyhouse")

_POLL_SECONDS = 1.0
_MAX_TEXT = 1000
#: the key of the one document of its kind
_ONLY = "only"
#: maximum value of a Retry-After, in seconds
_MAX_RETRY_SECONDS = 3600
_RETRY_SECONDS = 60

_DRAINING = "the service finishes running queries and jobs, and accepts no new work"


class AnnouncementError(Exception):
    """An announcement is invalid; the message has the reason."""


@dataclass(frozen=True, slots=True)
class Downtime:
    """A downtime that the operator has announced, with an optional note."""

    downtime_id: str
    start: datetime
    end: datetime
    note: str

    def describe(self) -> str:
        """Return a sentence for users."""
        span = f"{format_instant(self.start)} to {format_instant(self.end)}"
        return f"Downtime from {span}" + (f": {self.note}" if self.note else "")


@dataclass(frozen=True, slots=True)
class Note:
    """A text for users."""

    note_id: str
    text: str


@dataclass(frozen=True, slots=True)
class Announced:
    """All announcements at one instant.

    Attributes
    ----------
    drain : str
        Why the service refuses new queries and jobs, '' while it accepts them.
    downtimes : tuple of Downtime
        The downtimes that are not over, by their start.
    notes : tuple of Note
        The notes.
    """

    drain: str = ""
    downtimes: tuple[Downtime, ...] = ()
    notes: tuple[Note, ...] = ()


class Announcements:
    """The announcements as of the last second, which a thread reads after ``start``. Safe for threads and processes.

    Methods for the operator raise SiteStateUnavailable, and AnnouncementError for invalid arguments.
    """

    def __init__(self, state: SiteState) -> None:
        self._state = state
        self._current = Announced()
        self._poller = PeriodicThread("announcements", _POLL_SECONDS, self.refresh, "announcements cannot be read")
        try:
            self.refresh()
        except SiteStateUnavailable as error:
            _log.warning("announcements cannot be read yet: %s", error)

    @property
    def current(self) -> Announced:
        """The announcements, without downtimes that are over."""
        at = now()
        found = self._current
        return Announced(found.drain, tuple(each for each in found.downtimes if each.end > at), found.notes)

    def start(self) -> None:
        """Start the thread."""
        self._poller.start()

    def close(self) -> None:
        """End the thread."""
        self._poller.close()

    def refresh(self) -> None:
        """Read the announcements again. Raises SiteStateUnavailable."""
        drain = self._state.read_all(StateKind.DRAIN).get(_ONLY)
        downtimes = [_read_downtime(key, value) for key, value in self._state.read_all(StateKind.DOWNTIMES).items()]
        notes = [Note(key, value["text"]) for key, value in self._state.read_all(StateKind.NOTES).items()]
        reason = "" if drain is None else (drain["note"] or _DRAINING)
        self._current = Announced(reason, tuple(sorted(downtimes, key=lambda each: each.start)), tuple(notes))

    # --- for the service

    @property
    def is_draining(self) -> bool:
        """Whether the service refuses new queries and jobs."""
        return bool(self._current.drain)

    def check_open(self) -> None:
        """Raise ServiceDraining while the service refuses new queries and jobs."""
        reason = self._current.drain
        if not reason:
            return
        at = now()
        ends = [(each.end - at).total_seconds() for each in self.current.downtimes if each.start <= at]
        seconds = min(_MAX_RETRY_SECONDS, max((_RETRY_SECONDS, *(int(end) + 1 for end in ends))))
        raise ServiceDraining(f"the service takes no new queries now: {reason}. Try again later", seconds)

    # --- for the operator

    def start_drain(self, note: str = "") -> None:
        """Make all processes refuse new queries and jobs until ``end_drain``, also after a restart.

        Parameters
        ----------
        note : str
            The reason for users, on one line; '' for none.
        """
        self._state.put(StateKind.DRAIN, _ONLY, {"note": _check_text(note)})
        self.refresh()

    def end_drain(self) -> bool:
        """Accept queries and jobs again; return whether the service was draining."""
        was_draining = self._state.remove(StateKind.DRAIN, _ONLY)
        self.refresh()
        return was_draining

    def add_downtime(self, start: datetime, end: datetime, note: str) -> Downtime:
        """Announce a downtime, which is forgotten at its end.

        Parameters
        ----------
        start, end : datetime
            The start, which may be in the past, and the end.
        note : str
            A text for users, on one line; '' for none.

        Raises
        ------
        AnnouncementError
            The end is not after the start, or has passed, or the note is too long or not printable.
        """
        if end <= start:
            raise AnnouncementError("a downtime must end after its start: --to is not after --from")
        if end <= now():
            raise AnnouncementError("this downtime is already over: give an end in the future, in UTC")
        downtime = Downtime(_make_id(), start, end, _check_text(note))
        value = {"from": format_instant(start), "to": format_instant(end), "note": downtime.note}
        self._state.put(StateKind.DOWNTIMES, downtime.downtime_id, value, (end - now()).total_seconds())
        self.refresh()
        return downtime

    def remove_downtime(self, downtime_id: str) -> None:
        """Withdraw a downtime.

        Parameters
        ----------
        downtime_id : str
            The ``Downtime.downtime_id``.

        Raises
        ------
        AnnouncementError
            There is no such downtime.
        """
        if not self._state.remove(StateKind.DOWNTIMES, downtime_id):
            raise AnnouncementError(f"there is no downtime {downtime_id[:60]!r}; skyhouse downtime list lists them")
        self.refresh()

    def add_note(self, text: str) -> Note:
        """Announce a text to users until ``remove_note``.

        Parameters
        ----------
        text : str
            The text, on one line.

        Raises
        ------
        AnnouncementError
            The text is blank, too long or not printable.
        """
        if not text.strip():
            raise AnnouncementError("a note needs a text: give one in quotes")
        note = Note(_make_id(), _check_text(text))
        self._state.put(StateKind.NOTES, note.note_id, {"text": note.text})
        self.refresh()
        return note

    def remove_note(self, note_id: str) -> None:
        """Withdraw a note.

        Parameters
        ----------
        note_id : str
            The ``Note.note_id``.

        Raises
        ------
        AnnouncementError
            There is no such note.
        """
        if not self._state.remove(StateKind.NOTES, note_id):
            raise AnnouncementError(f"there is no note {note_id[:60]!r}; skyhouse note list lists them")
        self.refresh()


def _read_downtime(key: str, value: Mapping[str, Any]) -> Downtime:
    return Downtime(key, parse_instant(value["from"]), parse_instant(value["to"]), value["note"])


def _check_text(text: str) -> str:
    line = " ".join(text.split())
    if len(line) > _MAX_TEXT:
        raise AnnouncementError(f"a text may have at most {_MAX_TEXT} characters; this text has {len(line)}")
    if not line.isprintable():
        raise AnnouncementError("a text may have only printable characters")
    return line


def _make_id() -> str:
    """Return an id; ids sort by the time at which they were made."""
    at = format_instant(now())
    return f"{at[:19].replace('-', '').replace(':', '').lower()}-{secrets.token_hex(2)}"
