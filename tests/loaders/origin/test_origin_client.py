"""Requests to an origin that is busy, interrupts answers, redirects or never ends."""

from __future__ import annotations

import itertools
import time

import pytest

from loaders.origin.origin_client import OriginAnswer, OriginClient, check_address
from loaders.origin.origin_error import OriginError, OriginMissing, OriginUnavailable
from tap_service.hats.reading.folder_backend import Patience
from tests.loaders.origin.origin_server import Origin, Reply
from tests.support.ports import closed_port


def body(answer: OriginAnswer) -> bytes:
    return b"".join(answer.read_pieces(1000))


@pytest.mark.parametrize("status", [429, 503])
def test_a_busy_origin_is_asked_again_after_the_requested_time(origin: Origin, status: int) -> None:
    said: list[str] = []
    client = OriginClient(Patience(attempts=2, pause_seconds=100), said.append)
    origin.answers["/x"] = [Reply(b"", status, {"Retry-After": "1"}), Reply(b"rows")]
    began = time.monotonic()
    assert client.get(f"{origin.url}/x", body) == b"rows"
    assert 1 <= time.monotonic() - began < 20
    assert said[0].endswith("trying again in 1 s")


def test_the_client_does_not_wait_an_hour_for_an_origin(origin: Origin, client: OriginClient) -> None:
    origin.answers["/x"] = Reply(b"", 503, {"Retry-After": "3600"})
    with pytest.raises(OriginUnavailable, match="503 Service Unavailable; it asks for a pause of 3,600 seconds"):
        client.get(f"{origin.url}/x", body)
    assert len(origin.requests) == 1


def test_a_retry_date_in_the_past_means_now(origin: Origin, client: OriginClient) -> None:
    late = Reply(b"", 503, {"Retry-After": "Fri, 31 Dec 1999 23:59:59 GMT"})
    origin.answers["/x"] = [late, Reply(b"rows")]
    assert client.get(f"{origin.url}/x", body) == b"rows"


def test_an_interrupted_body_is_read_again(origin: Origin, client: OriginClient) -> None:
    origin.answers["/x"] = [Reply(b"ro", headers={"Content-Length": "4"}), Reply(b"rows")]
    assert client.get(f"{origin.url}/x", body) == b"rows"


def test_interruptions_are_reported_without_the_words_of_the_library(origin: Origin, client: OriginClient) -> None:
    origin.answers["/x"] = Reply(b"ro", headers={"Content-Length": "4"})
    with pytest.raises(OriginUnavailable) as raised:
        client.get(f"{origin.url}/x", body)
    assert str(raised.value) == f"{origin.url}/x was interrupted after 2 bytes"


def test_the_number_of_attempts_is_limited(origin: Origin, client: OriginClient) -> None:
    origin.answers["/x"] = Reply(b"", 502)
    with pytest.raises(OriginUnavailable, match="/x answers 502 Bad Gateway"):
        client.get(f"{origin.url}/x", body)
    assert len(origin.requests) == 3


def test_a_server_that_is_down(client: OriginClient) -> None:
    with closed_port() as port, pytest.raises(OriginUnavailable, match=r"/x does not answer: [^(]*Connection refused$"):
        client.get(f"http://127.0.0.1:{port}/x", body)


def test_a_missing_file_is_requested_once(origin: Origin, client: OriginClient) -> None:
    with pytest.raises(OriginMissing, match="/x does not exist: the server answers 404 Not Found"):
        client.get(f"{origin.url}/x", body)
    assert len(origin.requests) == 1


def test_an_endless_body_has_a_limit(origin: Origin, client: OriginClient) -> None:
    origin.answers["/x"] = Reply(itertools.repeat(b"x" * 100))
    with pytest.raises(OriginError, match="/x sends more than 1,000 bytes"):
        client.get(f"{origin.url}/x", body)
    assert len(origin.requests) == 1


def test_a_form_becomes_a_get_after_a_redirect(origin: Origin, client: OriginClient) -> None:
    origin.answers["/sync"] = Reply(status=303, headers={"Location": "/result"})
    origin.answers["/result"] = Reply(b"rows")
    assert client.post(f"{origin.url}/sync", {"QUERY": "SELECT 1"}, body) == b"rows"
    assert origin.requests == ["POST /sync", "GET /result"]


def test_a_form_is_sent_again_where_the_service_has_moved(origin: Origin, client: OriginClient) -> None:
    origin.answers["/old"] = Reply(status=308, headers={"Location": f"{origin.url}/new"})
    origin.answers["/new"] = lambda form: Reply(form["QUERY"].encode())
    assert client.post(f"{origin.url}/old", {"QUERY": "SELECT 'ä'"}, body) == "SELECT 'ä'".encode()


@pytest.mark.parametrize(
    ("location", "reason"),
    [
        ("file:///etc/passwd", "'file:///etc/passwd' is not the address of an origin"),
        ("http://user:secret@127.0.0.1/x", "must not contain a user or password"),
        ("/x", "redirects more than"),
    ],
)
def test_redirects_that_are_not_followed(origin: Origin, client: OriginClient, location: str, reason: str) -> None:
    origin.answers["/x"] = Reply(status=302, headers={"Location": location})
    with pytest.raises(OriginError, match=reason):
        client.get(f"{origin.url}/x", body)


def test_a_part_of_a_file(origin: Origin, client: OriginClient) -> None:
    origin.answers["/x"] = Reply(b"ws", 206, {"Content-Range": "bytes 2-3/4"})
    with client.stream("GET", f"{origin.url}/x", {"Range": "bytes=2-3"}) as answer:
        assert (answer.status, answer.headers["content-range"], body(answer)) == (206, "bytes 2-3/4", b"ws")


@pytest.mark.parametrize(
    "address", ["ftp://host/x", "https:///x", "http://[::1/x", "http://h:port/", "https://u@h/x", "/x"]
)
def test_invalid_addresses(address: str) -> None:
    with pytest.raises(OriginError):
        check_address(address)
