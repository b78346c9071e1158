"""The pixel of a HATS partition, and the paths of its files."""

from __future__ import annotations

import re
from typing import NamedTuple

from clickhouse_schema.healpix import ORDER

#: Folder of the partitions in a catalogue
DATASET = "dataset"

#: Column with the HEALPix index of order 29 in the files
SPATIAL_INDEX = "_healpix_29"

#: Pixels of one folder
_FOLDER_PIXELS = 10_000

_PATH = re.compile(r"(?:^|/)Norder=(\d{1,2})/Dir=(\d{1,19})/Npix=(\d{1,19})(?:\.[\w.]+|/[^/]+)?$")


class HatsPixel(NamedTuple):
    """A HEALPix pixel (NESTED). Pixels sort by order, then number; ``first_cell`` sorts them along the sky."""

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
        """Whether ``other`` is in this pixel, or is the same pixel."""
        return self.first_cell <= other.first_cell and other.end_cell <= self.end_cell

    def build_path(self, suffix: str = ".parquet") -> str:
        """Return the path of the pixel's file or folder below the catalogue.

        Parameters
        ----------
        suffix : str, optional
            Ending of the file; '/' for a folder of files.

        Returns
        -------
        str
            ``dataset/Norder=K/Dir=D/Npix=N`` and the suffix.

        References
        ----------
        .. [1] HATS 1.0, IVOA Note: Dir is the number of the pixel rounded down to a multiple of 10,000.
        """
        folder = self.number // _FOLDER_PIXELS * _FOLDER_PIXELS
        return f"{DATASET}/Norder={self.order}/Dir={folder}/Npix={self.number}{suffix}"


def parse_path(path: str) -> HatsPixel | None:
    """Return the pixel that the path of a file names.

    A path names a pixel only if ``Norder``, ``Dir`` and ``Npix`` are consistent and the pixel exists on the sky.

    Parameters
    ----------
    path : str
        Path or URL of a file, or of a file in the folder of a pixel.

    Returns
    -------
    HatsPixel or None
        None for other files.
    """
    found = _PATH.search(path)
    if not found:
        return None
    order, folder, number = (int(digits) for digits in found.groups())
    if order > ORDER or number >= 12 << 2 * order or folder != number // _FOLDER_PIXELS * _FOLDER_PIXELS:
        return None
    return HatsPixel(order, number)
