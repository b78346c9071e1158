"""The pixel of a HATS partition, and the names of its files."""

from __future__ import annotations

import re
from typing import NamedTuple

from clickhouse_schema.healpix import ORDER

#: The folder of the partitions in a catalogue
DATASET = "dataset"

#: Column of the HEALPix index of order 29 in the files
SPATIAL_INDEX = "_healpix_29"

#: Pixels of one folder
_FOLDER_PIXELS = 10_000

_PATH = re.compile(r"(?:^|/)Norder=(\d{1,2})/Dir=(\d{1,19})/Npix=(\d{1,19})(?:\.[\w.]+|/[^/]+)?$")


class HatsPixel(NamedTuple):
    """A HEALPix pixel in NESTED order. Pixels sort by order, then number; ``first_cell`` is their order on the sky."""

    order: int
    number: int

    @property
    def first_cell(self) -> int:
        """The first cell of order 29 in it."""
        return self.number << 2 * (ORDER - self.order)

    @property
    def end_cell(self) -> int:
        """The cell of order 29 after its last one."""
        return (self.number + 1) << 2 * (ORDER - self.order)

    def contains(self, other: HatsPixel) -> bool:
        """Tell whether ``other`` lies in it, or is the same."""
        return self.first_cell <= other.first_cell and other.end_cell <= self.end_cell

    def build_path(self, suffix: str = ".parquet") -> str:
        """Return the path of its file below the catalogue; of its folder for ``suffix`` '/'."""
        folder = self.number // _FOLDER_PIXELS * _FOLDER_PIXELS
        return f"{DATASET}/Norder={self.order}/Dir={folder}/Npix={self.number}{suffix}"


def parse_path(path: str) -> HatsPixel | None:
    """Return the pixel that a path of a file names; None for other files.

    Only a path in its one right form names a pixel: ``Norder``, ``Dir`` and ``Npix`` agree and exist on the sky.
    """
    found = _PATH.search(path)
    if not found:
        return None
    order, folder, number = (int(digits) for digits in found.groups())
    if order > ORDER or number >= 12 << 2 * order or folder != number // _FOLDER_PIXELS * _FOLDER_PIXELS:
        return None
    return HatsPixel(order, number)
