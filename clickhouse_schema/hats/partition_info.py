"""``partition_info.csv``: the pixels of a catalogue's partitions."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from itertools import pairwise

from clickhouse_schema.hats.hats_error import HatsError
from clickhouse_schema.hats.hats_pixel import HatsPixel
from clickhouse_schema.healpix import ORDER

FILE_NAME = "partition_info.csv"


def write_partition_info(pixels: Iterable[HatsPixel]) -> str:
    """Return the text of ``partition_info.csv``.

    Parameters
    ----------
    pixels : iterable of HatsPixel
        The pixels of all partitions, in any order.

    Returns
    -------
    str
        CSV with a header, ordered along the sky.
    """
    lines = [f"{pixel.order},{pixel.number}" for pixel in sorted(pixels, key=lambda pixel: pixel.first_cell)]
    return "\n".join(["Norder,Npix", *lines, ""])


def read_partition_info(text: str) -> list[HatsPixel]:
    """Return the pixels of ``partition_info.csv`` in their order on the sky.

    Other columns, which older versions of HATS wrote, are ignored.

    Parameters
    ----------
    text : str
        Content of the file.

    Returns
    -------
    list of HatsPixel
        The pixels, none of which overlap.

    Raises
    ------
    HatsError
        A line is not a pixel, two pixels overlap, or a column is missing.
    """
    try:
        header, *rows = list(csv.reader(text.splitlines())) or [[]]
    except csv.Error as error:
        raise HatsError(f"{FILE_NAME} is not CSV: {error}") from None
    header = [name.strip() for name in header]
    if not {"Norder", "Npix"} <= {*header}:
        raise HatsError(f"{FILE_NAME} has no columns Norder and Npix: its first line is {','.join(header)[:80]!r}")
    indexes = header.index("Norder"), header.index("Npix")
    pixels = sorted(
        (_read_pixel(row, indexes, line) for line, row in enumerate(rows, 2) if row), key=lambda pixel: pixel.first_cell
    )
    for pixel, following in pairwise(pixels):
        if following.first_cell < pixel.end_cell:
            raise HatsError(
                f"{FILE_NAME}: pixels {tuple(pixel)} and {tuple(following)} overlap, so the catalogue would have rows"
                " twice"
            )
    return pixels


def _read_pixel(row: list[str], indexes: tuple[int, int], line: int) -> HatsPixel:
    try:
        order, number = (int(row[index]) for index in indexes)
    except (IndexError, ValueError):
        raise HatsError(f"{FILE_NAME}, line {line}: {','.join(row)[:80]!r} is not a pair of whole numbers") from None
    if not 0 <= order <= ORDER:
        raise HatsError(f"{FILE_NAME}, line {line}: the order is {order}, but orders are from 0 to {ORDER}")
    if not 0 <= number < 12 << 2 * order:
        raise HatsError(f"{FILE_NAME}, line {line}: pixel {number} is not on the sky at order {order}")
    return HatsPixel(order, number)
