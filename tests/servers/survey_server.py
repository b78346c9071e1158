"""A survey (HiPS) on this machine whose colours encode the direction."""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
from cdshealpix.nested import healpix_to_lonlat
from numpy.typing import NDArray

from tests.servers.server_thread import run_server

WIDTH = 512
ORDER = 5
_ALLSKY_WIDTH, _ALLSKY_ROW, _ALLSKY_TILES = 64, 27, 768
_PROPERTIES = f"""# a survey of the tests
creator_did = ivo://example.org/P/directions
obs_title = Directions in colours
obs_copyright = Example Observatory
obs_copyright_url = https://example.org/licence
hips_version = 1.4
hips_order = {ORDER}
hips_tile_width = {WIDTH}
hips_tile_format = png
hips_frame = galactic
dataproduct_type = image
"""


def colour_at(longitude: NDArray[np.float64], latitude: NDArray[np.float64]) -> NDArray[np.uint8]:
    """Return red, green and blue for directions in the survey's frame (radians): the components of the unit vector."""
    across = np.cos(latitude)
    vector = (across * np.cos(longitude), across * np.sin(longitude), np.sin(latitude))
    return np.round((np.stack(vector, -1) + 1) * 127.5).astype(np.uint8)


def _tile_colours(order: int, index: int, width: int) -> NDArray[np.uint8]:
    """Return a tile in the format of HiPS: lines from the south corner to the east, columns from there to the west."""
    depth = width.bit_length() - 1
    x, y = np.meshgrid(np.arange(width), np.arange(width), indexing="ij")
    inside = sum(((x >> bit & 1) << 2 * bit) | ((y >> bit & 1) << 2 * bit + 1) for bit in range(depth))
    lon, lat = healpix_to_lonlat((index * width**2 + inside).ravel().astype(np.uint64), order + depth)
    return colour_at(lon.rad, lat.rad).reshape(width, width, 3)


def _allsky_colours() -> NDArray[np.uint8]:
    width = _ALLSKY_WIDTH
    lines = -(-_ALLSKY_TILES // _ALLSKY_ROW)
    picture = np.zeros((lines * width, _ALLSKY_ROW * width, 3), np.uint8)
    for index in range(_ALLSKY_TILES):
        line, column = divmod(index, _ALLSKY_ROW)
        picture[line * width : (line + 1) * width, column * width : (column + 1) * width] = _tile_colours(
            3, index, width
        )
    return picture


def _png(picture: NDArray[np.uint8]) -> bytes:
    height, width, _ = picture.shape
    lines = b"".join(b"\0" + line.tobytes() for line in picture)

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(lines, 1)) + chunk(b"IEND", b"")


class _Survey(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        tile = re.fullmatch(r"/survey/Norder(\d+)/Dir(\d+)/Npix(\d+)\.png", self.path)
        if self.path == "/survey/properties":
            self._answer(_PROPERTIES.encode(), "text/plain")
        elif self.path == "/survey/Norder3/Allsky.png":
            self._answer(_png(_allsky_colours()), "image/png")
        elif tile and int(tile[1]) <= ORDER and int(tile[2]) == int(tile[3]) // 10_000 * 10_000:
            self._answer(_png(_tile_colours(int(tile[1]), int(tile[3]), WIDTH)), "image/png")
        else:
            self.send_error(404)

    def _answer(self, body: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Access-Control-Allow-Origin", "*")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def serve_survey() -> Iterator[str]:
    """Serve the survey on a free port; yield its URL."""
    with run_server(ThreadingHTTPServer(("127.0.0.1", 0), _Survey)) as server:
        yield f"http://127.0.0.1:{server.server_port}/survey"
