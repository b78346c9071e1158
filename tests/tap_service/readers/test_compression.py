"""Compressed files: each form gives the same bytes, and errors of broken files say what is wrong."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from astropy.io import fits

from tap_service.readers.byte_stream import ByteStream
from tap_service.readers.file_formats import open_source
from tap_service.readers.read_error import ReadError
from tests.tap_service.readers.reading import read_rows


def pack_zip(data: bytes, **members: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in {"t.csv": data, **members}.items():
            archive.writestr(name, content)
    return file.getvalue()


def pack_zstd(data: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    return bytes(sink.getvalue())


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": pack_zstd,
    ".zip": pack_zip,
}
WITH_MEMBERS = [".gz", ".bz2", ".xz", ".zst"]

#: half of it cannot be compressed
DATA = np.random.default_rng(38).bytes(400_000) + b"a" * 3_000_000


def unpack(path: Path) -> bytes:
    with ByteStream(path) as stream:
        return b"".join(iter(lambda: stream.read(70_000), b""))


@pytest.mark.parametrize("extension", PACKERS)
def test_every_compression_gives_the_bytes_back(tmp_path: Path, extension: str) -> None:
    path = tmp_path / f"data{extension}"
    path.write_bytes(PACKERS[extension](DATA))
    assert unpack(path) == DATA


@pytest.mark.parametrize("extension", WITH_MEMBERS)
def test_all_members_of_a_file_are_read(tmp_path: Path, extension: str) -> None:
    path = tmp_path / f"data{extension}"
    path.write_bytes(PACKERS[extension](DATA) + PACKERS[extension](b"end"))
    assert unpack(path) == DATA + b"end"


#: Streams of bzip2 as pbzip2 writes them: short ones, and between them one that takes longer than others
STREAMS = [DATA[start : start + 100_000] for start in range(0, 600_000, 100_000)]


@pytest.mark.parametrize("extra", [b"", DATA * 6])
def test_short_streams_of_bzip2_are_unpacked_in_parallel(tmp_path: Path, extra: bytes) -> None:
    path = tmp_path / "data.bz2"
    path.write_bytes(b"".join(map(bz2.compress, [*STREAMS, extra, *STREAMS])) + b"\0" * 3_000_000)
    assert unpack(path) == b"".join([*STREAMS, extra, *STREAMS])


def test_a_long_stream_after_short_ones_is_unpacked_in_pieces(tmp_path: Path) -> None:
    path = tmp_path / "data.bz2"
    long = np.random.default_rng(39).bytes(18_000_000)
    path.write_bytes(b"".join(map(bz2.compress, [*STREAMS, long, *STREAMS])))
    assert unpack(path) == b"".join([*STREAMS, long, *STREAMS])


@pytest.mark.parametrize("lost", [1, 9, 50_000, 250_000])
def test_truncated_short_streams_are_an_error(tmp_path: Path, lost: int) -> None:
    path = tmp_path / "data.bz2"
    path.write_bytes(b"".join(map(bz2.compress, STREAMS[:4]))[:-lost])
    with pytest.raises(ReadError, match="is broken"):
        unpack(path)


def test_a_changed_byte_in_short_streams_is_an_error(tmp_path: Path) -> None:
    packed = bytearray(b"".join(map(bz2.compress, STREAMS[:4])))
    packed[150_000] ^= 1
    (tmp_path / "data.bz2").write_bytes(packed)
    with pytest.raises(ReadError, match="is broken"):
        unpack(tmp_path / "data.bz2")


def test_a_bomb_among_short_streams_is_stopped_at_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "bomb.bz2"
    path.write_bytes(bz2.compress(b"a") + bz2.compress(b"0" * 200_000_000) + bz2.compress(b"b"))
    monkeypatch.setattr(ByteStream, "max_bytes", 1_000_000)
    with pytest.raises(ReadError, match="has more than 1000000 bytes when unpacked"):
        unpack(path)


@pytest.mark.parametrize("extension", [".gz", ".bz2", ".xz"])
def test_zeros_after_the_last_member_are_ignored(tmp_path: Path, extension: str) -> None:
    path = tmp_path / f"data{extension}"
    path.write_bytes(PACKERS[extension](DATA) + b"\0" * 200_000)
    assert unpack(path) == DATA


@pytest.mark.parametrize("extension", PACKERS)
@pytest.mark.parametrize("lost", [1, 9, 100_000])
def test_a_truncated_file_is_an_error(tmp_path: Path, extension: str, lost: int) -> None:
    path = tmp_path / f"data{extension}"
    path.write_bytes(PACKERS[extension](DATA)[:-lost])
    with pytest.raises(ReadError, match=rf"data\{extension} is broken"):
        unpack(path)


@pytest.mark.parametrize("extension", WITH_MEMBERS)
def test_other_data_after_the_last_member_are_an_error(tmp_path: Path, extension: str) -> None:
    path = tmp_path / f"data{extension}"
    path.write_bytes(PACKERS[extension](DATA) + b"garbage that is no member")
    with pytest.raises(ReadError, match="is broken"):
        unpack(path)


@pytest.mark.parametrize("extension", PACKERS)
def test_a_changed_byte_is_an_error(tmp_path: Path, extension: str) -> None:
    packed = bytearray(PACKERS[extension](DATA))
    packed[200_000] ^= 1
    path = tmp_path / f"data{extension}"
    path.write_bytes(packed)
    if extension == ".zst":  # Arrow writes no checksum, and the byte is a literal
        assert unpack(path) != DATA
        return
    with pytest.raises(ReadError, match="is broken"):
        unpack(path)


@pytest.mark.parametrize("extension", PACKERS)
def test_text_and_fits_are_read_from_every_compression(tmp_path: Path, extension: str) -> None:
    text = tmp_path / f"t.csv{extension}"
    text.write_bytes(PACKERS[extension](b"id,name\n1,a\n2,b\n"))
    assert read_rows(text) == ([(1, "a"), (2, "b")], [])
    file = io.BytesIO()
    varying = fits.Column("v", "PJ()", array=np.array([np.array([1], "i4"), np.array([2, 3], "i4")], dtype=object))
    fits.BinTableHDU.from_columns([varying]).writeto(file)
    (tmp_path / f"t.fits{extension}").write_bytes(PACKERS[extension](file.getvalue()))
    assert read_rows(tmp_path / f"t.fits{extension}") == ([([1],), ([2, 3],)], [])


def test_the_file_inside_a_zip_names_its_format(tmp_path: Path) -> None:
    path = tmp_path / "download.zip"
    path.write_bytes(pack_zip(b"id\tv\n1\t2\n2\t3\n", **{"__MACOSX/._t.csv": b"junk"}))
    assert read_rows(path) == ([(1, 2), (2, 3)], [])


def test_a_zip_of_several_files_names_them(tmp_path: Path) -> None:
    path = tmp_path / "t.zip"
    path.write_bytes(pack_zip(b"id\n1\n", **{"other.csv": b"id\n2\n"}))
    with pytest.raises(ReadError, match=r"it has 2 files \(t\.csv, other\.csv\), not one: unpack it"):
        open_source(path)


def test_parquet_inside_an_archive_is_refused(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": [1]}), tmp_path / "t.parquet")
    path = tmp_path / "t.parquet.gz"
    path.write_bytes(gzip.compress((tmp_path / "t.parquet").read_bytes()))
    with pytest.raises(ReadError, match="is a Parquet file inside a gzip file: unpack it first"):
        open_source(path)


@pytest.mark.parametrize("extension", PACKERS)
def test_a_bomb_is_stopped_at_the_limit(tmp_path: Path, extension: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / f"bomb{extension}"
    path.write_bytes(PACKERS[extension](b"0" * 20_000_000))
    monkeypatch.setattr(ByteStream, "max_bytes", 1_000_000)
    with pytest.raises(ReadError, match="has more than 1000000 bytes when unpacked"):
        unpack(path)


def test_a_dictionary_of_gigabytes_is_refused(tmp_path: Path) -> None:
    filters = [{"id": lzma.FILTER_LZMA2, "dict_size": 512 << 20, "preset": 0}]
    with_window = b"\x28\xb5\x2f\xfd\x00\xa8\x29\x00\x00id\n1\n"  # a frame that declares a window of 2 GiB
    for name, data in (("t.xz", lzma.compress(b"id\n1\n", filters=filters)), ("t.zst", with_window)):
        path = tmp_path / name
        path.write_bytes(data)
        with pytest.raises(ReadError, match=r"needs more than 128 MB .*\((xz|zstd)\): compress it again"):
            unpack(path)
