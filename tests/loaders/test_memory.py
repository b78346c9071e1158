"""Reading takes no more memory for a longer file: measured in separate processes."""

from __future__ import annotations

import base64
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest
from astropy.io import fits

SHORT, LONG = 150_000, 600_000
TEXT = "x" * 80

#: Prints the number of rows read and the maximum memory, in bytes
CHILD = """
import re, sys
from pathlib import Path
from tap_service.readers.file_formats import open_source
source = open_source(Path(sys.argv[1]))
names = tuple(field.name for field in source.fields)
rows = sum(piece.batch.num_rows for piece in source.read_blocks(names))
# not ru_maxrss, which starts with the value of the process that forked this one
print(rows, int(re.search(r"VmHWM:\\s*(\\d+)", Path("/proc/self/status").read_text())[1]) * 1024)
"""


def write_binary2(made: pa.Table, path: Path) -> None:
    """Write a VOTable; astropy's own writer would take a minute."""
    rows = np.zeros(made.num_rows, [("mask", "u1"), ("id", ">i8"), ("value", ">f8"), ("text", "S80")])
    rows["id"], rows["value"], rows["text"] = made.column("id"), made.column("value"), TEXT
    path.write_text(
        '<VOTABLE><RESOURCE><TABLE><FIELD name="id" datatype="long"/><FIELD name="value" datatype="double"/>'
        '<FIELD name="text" datatype="char" arraysize="80"/><DATA><BINARY2><STREAM encoding="base64">\n'
        f"{base64.encodebytes(rows.tobytes()).decode()}</STREAM></BINARY2></DATA></TABLE></RESOURCE></VOTABLE>"
    )


def write_cells(made: pa.Table, path: Path) -> None:
    with path.open("w") as file:
        file.write(
            '<VOTABLE><RESOURCE><TABLE><FIELD name="id" datatype="long"/><FIELD name="value" datatype="double"/>'
        )
        file.write('<FIELD name="text" datatype="char" arraysize="*"/><DATA><TABLEDATA>\n')
        for number in range(made.num_rows):
            file.write(f"<TR><TD>{number}</TD><TD>0.5</TD><TD>{TEXT}</TD></TR>\n")
        file.write("</TABLEDATA></DATA></TABLE></RESOURCE></VOTABLE>")


def write_fits(made: pa.Table, path: Path) -> None:
    columns = [
        fits.Column("id", "K", array=made.column("id").to_numpy()),
        fits.Column("value", "D", array=made.column("value").to_numpy()),
        fits.Column("text", "80A", array=np.full(made.num_rows, TEXT)),
    ]
    fits.BinTableHDU.from_columns(columns).writeto(path)


WRITERS: dict[str, Callable[[pa.Table, Path], object]] = {
    "t.parquet": lambda made, path: pq.write_table(
        made, path, row_group_size=20_000, compression="none", use_dictionary=False
    ),
    "t.csv": pacsv.write_csv,
    "t.fits": write_fits,
    "binary2.vot": write_binary2,
    "cells.vot": write_cells,
}


@pytest.mark.parametrize("name", WRITERS)
def test_memory_does_not_grow_with_the_file(name: str, tmp_path: Path) -> None:
    most = []
    for rows in (SHORT, LONG):
        text = pa.array([TEXT] * rows)
        made = pa.table({"id": np.arange(rows), "value": np.arange(rows) / 7, "text": text})
        path = tmp_path / f"{rows}{name}"
        WRITERS[name](made, path)
        command = [sys.executable, "-c", CHILD, str(path)]
        done = subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE, timeout=100)
        read, held = done.stdout.split()
        assert int(read) == rows
        most.append(int(held))
    assert (tmp_path / f"{LONG}{name}").stat().st_size > 55e6
    assert most[1] - most[0] < 25e6
