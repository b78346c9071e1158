"""Bodies with a Content-Encoding, on every route: within the limits of bodies, or refused with a reason."""

from __future__ import annotations

import gzip
import random
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from tap_service.handlers import body_decoder
from tap_service.handlers.body_decoder import BodyDecoder, count_compressed_body
from tap_service.handlers.compress_responses import zstd
from tap_service.service_errors import ParameterError, TooManyUploads
from tests.support.registry_file import write_registry_file
from tests.support.running_service import RunningService
from tests.tap_service.async_client import create_job
from tests.tap_service.route_requests import Operation, list_operations
from tests.tap_service.users import User, temporary_user

COMPRESS: dict[str, Callable[[bytes], bytes]] = {"gzip": gzip.compress, "zstd": zstd.compress}
QUERY = {"LANG": "ADQL", "FORMAT": "csv", "QUERY": "SELECT n FROM svc.numbers WHERE n = 7"}
NOISE = random.Random(1).randbytes(600_000)
encodings = pytest.mark.parametrize("encoding", COMPRESS)


def decode(encoding: str, data: bytes, step: int = 1 << 16) -> bytes:
    decoder = BodyDecoder(encoding)
    pieces = [piece for begin in range(0, len(data), step) for piece in decoder.decode(data[begin : begin + step])]
    decoder.finish()
    return b"".join(pieces)


@encodings
class TestDecoder:
    @pytest.mark.parametrize("body", [b"", b"a", b"a" * 1_000_000, NOISE])
    def test_bodies_in_pieces_and_members(self, encoding: str, body: bytes) -> None:
        packed = COMPRESS[encoding](body)
        for step in (7, 1 << 16):
            assert decode(encoding, packed, step) == body
            assert decode(encoding, packed * 3, step) == body * 3
        assert decode(encoding, b"") == b""

    def test_every_truncation_is_seen(self, encoding: str) -> None:
        body = b"some text, some text, some text"
        packed = COMPRESS[encoding](body)
        for length in range(1, len(packed)):
            with pytest.raises(ParameterError, match="the body"):
                decode(encoding, packed[:length])
        for other in (b"nonsense" * 10, packed + b"nonsense" * 10, NOISE):
            with pytest.raises(ParameterError, match="the body cannot be decompressed"):
                decode(encoding, other)

    def test_empty_members_are_counted(self, encoding: str) -> None:
        with pytest.raises(ParameterError, match="too many small"):
            decode(encoding, COMPRESS[encoding](b"") * 2000)

    def test_a_bomb_gives_only_what_is_taken(self, encoding: str) -> None:
        bomb = COMPRESS[encoding](bytes(200 << 20))
        tracemalloc.start()
        try:
            pieces = BodyDecoder(encoding).decode(bomb)
            assert sum(len(next(pieces)) for _ in range(10)) < 4 << 20
            assert tracemalloc.get_traced_memory()[1] < 20 << 20
        finally:
            tracemalloc.stop()


@pytest.mark.parametrize(
    ("encoding", "packed"),
    [  # in which the text is not encoded
        ("gzip", gzip.compress(b"some text", 0, mtime=0)),
        ("zstd", zstd.compress(b"some text", options={zstd.CompressionParameter.checksum_flag: 1})),
    ],
    ids=["gzip", "zstd"],
)
def test_checksums_are_compared(encoding: str, packed: bytes) -> None:
    assert decode(encoding, packed) == b"some text"
    with pytest.raises(ParameterError, match="the body cannot be decompressed"):
        decode(encoding, packed.replace(b"text", b"test"))


def test_a_large_window_is_refused() -> None:
    packer = zstd.ZstdCompressor(options={zstd.CompressionParameter.window_log: 27})
    with pytest.raises(ParameterError, match="too much memory"):
        decode("zstd", packer.compress(NOISE) + packer.flush())
    packer = zstd.ZstdCompressor(options={zstd.CompressionParameter.window_log: 23})
    assert decode("zstd", packer.compress(NOISE) + packer.flush()) == NOISE


def test_a_client_has_a_limit_of_compressed_bodies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(body_decoder, "_MAX_OF_CLIENT", 1)
    one, again, other = (count_compressed_body(client) for client in ("1.2.3.4", "1.2.3.4", "1.2.3.5"))
    with one, other, pytest.raises(TooManyUploads, match=r"1\.2\.3\.4 is already sending 1 compressed bodies"), again:
        pass
    with count_compressed_body("1.2.3.4"):
        pass
    assert not body_decoder._by_client


@encodings
def test_compressed_bodies_are_read(own: RunningService, encoding: str) -> None:
    """Forms, files in forms, JSON, and tables."""
    compress, headers = COMPRESS[encoding], {"Content-Encoding": encoding}

    def pack(**arguments: object) -> tuple[bytes, dict[str, str]]:
        plain = httpx.Request("POST", own.sync, **arguments)  # type: ignore[arg-type]
        return compress(plain.read()), {**headers, "Content-Type": plain.headers["content-type"]}

    for name in (encoding, encoding.upper(), f"identity, {encoding}", *(["x-gzip"] if encoding == "gzip" else [])):
        body, kind = pack(data=QUERY)
        answer = httpx.post(own.sync, content=body, headers={**kind, "Content-Encoding": name})
        assert (answer.status_code, answer.text) == (200, "n\r\n7\r\n")
    upload = {"LANG": "ADQL", "FORMAT": "csv", "QUERY": "SELECT COUNT(*) AS n FROM TAP_UPLOAD.t", "UPLOAD": "t,param:f"}
    body, kind = pack(data=upload, files={"f": ("t.csv", "a\n" + "1\n" * 200_000, "text/csv")})
    assert httpx.post(own.sync, content=body, headers=kind, timeout=60).text == "n\r\n200000\r\n"
    with temporary_user(own, "alice") as alice:
        table = compress(b"a\n1\n2\n")
        made = alice.http("PUT", "tables/mydb.mine", content=table, headers={**headers, "Content-Type": "text/csv"})
        assert made.status_code == 201, made.text
        assert alice.count("mydb.mine") == 2
        body, kind = pack(json={"label": "packed"})
        token = alice.http("POST", "tokens", content=body, headers=kind)
        assert token.json()["label"] == "packed", token.text


@encodings
def test_the_limits_of_bodies_count_what_is_decompressed(own: RunningService, encoding: str) -> None:
    """The encoded size of each is far below its limit."""
    compress, headers = COMPRESS[encoding], {"Content-Encoding": encoding}
    form = {**headers, "Content-Type": "application/x-www-form-urlencoded"}
    assert httpx.post(own.sync, content=compress(b"QUERY=" + b"x" * (50 << 20)), headers=form).status_code == 413
    boundary = {**headers, "Content-Type": "multipart/form-data; boundary=b"}
    part = b'--b\r\nContent-Disposition: form-data; name="f"; filename="f"\r\n\r\n'
    too_long = httpx.post(own.sync, content=compress(part + bytes(300 << 20)), headers=boundary, timeout=60)
    assert too_long.status_code == 413
    assert "the files of the request have more than" in too_long.text
    alice = User(own, "alice")
    table = {**headers, "Content-Type": "text/csv"}
    for method, path in (("PUT", "tables/mydb.mine"), ("POST", "tables/mydb.mine"), ("POST", "load/mydb.mine")):
        refused = alice.http(method, path, content=compress(bytes(21_000_000)), headers=table)
        assert (refused.status_code, "more than 20000000 bytes" in refused.text) == (413, True)
    json = {**headers, "Content-Type": "application/json"}
    assert alice.http("POST", "tokens", content=compress(b" " * 20_000), headers=json).status_code == 413
    alice.session.close()


@pytest.fixture(scope="module")
def operations(
    serve: Callable[..., RunningService], accounts: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[httpx.Client, list[Operation]]]:
    """Return the operations that accept a body, with the objects that they refer to."""
    folder = tmp_path_factory.mktemp("registry")
    files = {"registry": write_registry_file(folder / "registry.yaml"), "registry_state": folder / "registry.sqlite"}
    service = serve(accounts=accounts, mcp=True, public_url="https://example.org", **files)
    with temporary_user(service, "alice") as alice:
        alice.create_empty_table("mydb.mine")
        job = create_job(service.tap, QUERY["QUERY"], alice.auth)
        watch = alice.http("POST", "watches", json={"name": "w", "query": "SELECT * FROM svc.stars"}).json()["id"]
        path_values = {
            "job_id": job.url.rpartition("/")[2],
            "name": "mydb.mine",
            "table": "svc.stars",
            "watch_id": watch,
        }
        with httpx.Client(base_url=service.url, auth=("root", "administrator"), timeout=60) as client:
            document = client.get("/tap/openapi.json").json()
            yield client, [each for each in list_operations(document, path_values) if each.has_body]
        alice.http("DELETE", f"watches/{watch}")


def test_every_route_with_a_body_takes_encodings(operations: tuple[httpx.Client, list[Operation]]) -> None:
    client, known = operations
    assert len(known) > 25
    for operation in known:
        plain = operation.build(client)
        for encoding, compress in COMPRESS.items():
            headers = {**plain.headers, "Content-Encoding": encoding}
            del headers["content-length"]
            truncated = httpx.Request(plain.method, plain.url, headers=headers, content=compress(plain.read())[:-3])
            answer = client.send(truncated)
            assert "in the middle of its" in answer.text, (operation.route, answer.text)
        for unknown in ("br", "deflate", "gzip, zstd", "gzip, gzip", "compress"):
            headers["Content-Encoding"] = unknown
            answer = client.send(httpx.Request(plain.method, plain.url, headers=headers, content=plain.read()))
            assert answer.status_code == 415, (operation.route, answer.text)
            assert answer.headers["accept-encoding"] == "gzip, zstd"
