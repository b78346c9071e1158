"""Clients of /async and /sync that know the correct answers, and retry as clients should."""

from __future__ import annotations

import random
import time
from collections import Counter
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

import httpx

from tests.chaos.known_rows import Question, read_rows
from tests.tap_service.async_client import FINISHED, UWS

#: outcomes of a request: correct; an error that says that the same job may succeed later; anything else is a failure
RIGHT, TRANSIENT, WRONG = "right", "transient error", "WRONG"

#: status codes that ask the client to retry
_AGAIN = (429, 503)
_RETRY_SECONDS = 0.3
_REQUEST_SECONDS = 90

_PARAMETERS = {"LANG": "ADQL", "FORMAT": "csv", "MAXREC": "1000000"}


class ClientGivesUp(Exception):
    """The service was not usable until the end of the run."""


@dataclass(frozen=True)
class Answer:
    question: Question
    outcome: str
    said: str
    url: str
    seconds: float


class Client:
    """Repeats requests after 429, 503 and broken connections until ``deadline``. Thread-safe."""

    def __init__(self, tap: str, deadline: float, repeats: Counter[str]) -> None:
        self._tap = tap
        self._deadline = deadline
        self._repeats = repeats
        self._http = httpx.Client(timeout=_REQUEST_SECONDS)

    def close(self) -> None:
        self._http.close()

    def ask_sync(self, question: Question) -> Answer:
        start = time.monotonic()
        try:
            response = self._request("POST", self._tap + "/sync", **_form(question))
        except ClientGivesUp as error:
            outcome, said = WRONG, f"no answer: {error}"
        else:
            is_ok = response.status_code == 200
            outcome, said = _judge(question, response.text) if is_ok else (WRONG, _describe(response))
        return Answer(question, outcome, said, "", time.monotonic() - start)

    def run_job(self, question: Question, *, is_run_at_once: bool) -> Answer:
        """Run a job to its end.

        It is acknowledged once its URL has arrived; a request without a response is repeated.
        """
        start, url = time.monotonic(), ""
        form = _form(question, PHASE="RUN") if is_run_at_once else _form(question)
        try:
            created = self._request("POST", self._tap + "/async", **form)
            url = created.headers.get("location", "")
            outcome, said = self._follow_job(question, url) if url else (WRONG, _describe(created))
        except ClientGivesUp as error:
            outcome, said = WRONG, f"does not end: {error}"
        return Answer(question, outcome, said, url, time.monotonic() - start)

    def leave_sync(self, question: Question, seconds: float) -> None:
        """Send a query and disconnect before the answer."""
        try:
            self._http.request("POST", self._tap + "/sync", timeout=seconds, **_form(question))
        except httpx.HTTPError:
            return

    def abort_job(self, question: Question, seconds: float) -> Answer:
        """Start a job and abort it after ``seconds``, in any phase."""
        start, url = time.monotonic(), ""
        try:
            created = self._request("POST", self._tap + "/async", **_form(question, PHASE="RUN"))
            url = created.headers["location"]
            time.sleep(seconds)
            self._request("POST", url + "/phase", data={"PHASE": "ABORT"})
            phase, said = self._wait_for_end(url)
        except ClientGivesUp as error:
            phase, said = "", f"does not end: {error}"
        outcome = RIGHT if phase == "ABORTED" else _error_outcome(phase, said)
        return Answer(question, outcome, said, url, time.monotonic() - start)

    def _follow_job(self, question: Question, url: str) -> tuple[str, str]:
        while (response := self._request("GET", url + "/phase")).text == "PENDING":
            self._request("POST", url + "/phase", data={"PHASE": "RUN"})
        if response.status_code != 200:
            return WRONG, f"the acknowledged job: {_describe(response)}"
        phase, said = self._wait_for_end(url)
        if phase != "COMPLETED":
            return _error_outcome(phase, said), said
        result = self._request("GET", url + "/results/result")
        if result.status_code != 200:
            return WRONG, f"COMPLETED without a result: {_describe(result)}"
        return _judge(question, result.text)

    def _wait_for_end(self, url: str) -> tuple[str, str]:
        """Return the last phase and the type and text of an error."""
        while True:
            response = self._request("GET", url, params={"WAIT": "20"})
            if response.status_code != 200:
                return "LOST", f"the acknowledged job: {_describe(response)}"
            job = ElementTree.fromstring(response.content)
            phase = job.findtext(UWS + "phase") or ""
            if phase in FINISHED:
                error = job.find(UWS + "errorSummary")
                if error is None:
                    return phase, ""
                return phase, f"{error.get('type')}: {error.findtext(UWS + 'message')}"

    def _request(self, method: str, url: str, **options: Any) -> httpx.Response:
        while time.monotonic() < self._deadline:
            try:
                response = self._http.request(method, url, **options)
            except httpx.TransportError as error:
                self._repeats[type(error).__name__] += 1
            else:
                if response.status_code not in _AGAIN:
                    return response
                self._repeats[_describe(response)] += 1
            time.sleep(_RETRY_SECONDS)
        raise ClientGivesUp(f"{method} {url}")


def choose_endless(dice: random.Random) -> Question:
    """Return a query whose answer takes days; ``dice`` makes its text unique."""
    query = f"SELECT COUNT(*) AS n FROM chaos.stars AS a, chaos.stars AS b, chaos.stars AS c WHERE SIN(a.id + b.id + c.id) > {dice.random()}"
    return Question("abandoned", query, lambda _: False)


def _form(question: Question, **more: str) -> dict[str, Any]:
    data = {**_PARAMETERS, "QUERY": question.query, **more}
    if not question.upload:
        return {"data": data}
    return {"data": data | {"UPLOAD": "mine,param:mine"}, "files": {"mine": ("mine.csv", question.upload, "text/csv")}}


def _judge(question: Question, text: str) -> tuple[str, str]:
    try:
        rows = read_rows(text)
    except ValueError:
        return WRONG, f"not the rows of a CSV: {text[:300]}"
    return (RIGHT, "") if question.is_right(rows) else (WRONG, f"{len(rows)} rows, beginning with {rows[:3]}")


def _error_outcome(phase: str, said: str) -> str:
    return TRANSIENT if phase == "ERROR" and said.startswith("transient: ") else WRONG


def _describe(response: httpx.Response) -> str:
    return f"{response.status_code}: {_read_error(response.text)}"


def _read_error(text: str) -> str:
    """Return the message of an error document, or the text."""
    try:
        document = ElementTree.fromstring(text)
    except ElementTree.ParseError:
        return text[:300]
    found = [each.text for each in document.iter() if each.tag.endswith("INFO") and each.get("name") == "QUERY_STATUS"]
    return (found[0] or "").strip() if found else text[:300]
