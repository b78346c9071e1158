"""Rows per second that a core reads from texts, and the peak memory; run with ``make bench``.

Two million rows of 20 columns: as an IPAC table, as a table of the CDS with its ReadMe (whose positions in hours and
degrees become two more columns), and as texts delimited by commas, also gzipped, and by blanks. Each is read in a
separate process: columns are sliced, and values cast to the types of the table as in a load.
"""

from __future__ import annotations

import gzip
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from clickhouse_schema.schema_files.yaml_reader import read_schema
from clickhouse_schema.schema_files.yaml_writer import document_to_yaml
from loaders.pipeline.describe_file import describe_source
from tap_service.models.read_options import ReadOptions
from tap_service.readers.conform_rows import Conformer
from tap_service.readers.file_formats import open_source

ROWS = 2_000_000
_BLOCK = 50_000
_RULE = "-" * 60

#: name, IPAC type, CDS format, format of Python; the first eight are a number and a sexagesimal position
_COLUMNS = (
    ("id", "long", "I19", "19d"),
    ("RAh", "int", "I2", "02d"),
    ("RAm", "int", "I2", "02d"),
    ("RAs", "double", "F6.3", "06.3f"),
    ("DE-", "char", "A1", "1s"),
    ("DEd", "int", "I2", "02d"),
    ("DEm", "int", "I2", "02d"),
    ("DEs", "double", "F5.2", "05.2f"),
    *((f"mag{number}", "double", "F7.3", "7.3f") for number in range(8)),
    ("count", "int", "I5", "5d"),
    ("flag", "char", "A4", "4s"),
    ("name", "char", "A12", "12s"),
    ("date", "char", "A10", "10s"),
)
_UNITS = {"RAh": "h", "RAm": "min", "RAs": "s", "DEd": "deg", "DEm": "arcmin", "DEs": "arcsec"}


def _count_bytes(format_: str) -> int:
    return int(format_[1:].partition(".")[0])


def write_files(folder: Path, rows: int) -> tuple[Path, ...]:
    """Write the IPAC table, the CDS table with its ReadMe, and the delimited texts."""
    widths = [max(_count_bytes(cds), len(ipac), len(name), 4) for name, ipac, cds, _ in _COLUMNS]
    ipac_path, cds_path = folder / "stars.tbl", folder / "stars.dat"
    start = 1
    lines = []
    for name, _, cds, _ in _COLUMNS:
        end = start + _count_bytes(cds) - 1
        null = "?=99.999 " if name.startswith("mag") else ""
        lines.append(f"{start:4d}-{end:4d} {cds:6s} {_UNITS.get(name, '---'):7s} {name:8s} {null}Column {name} (J2000)")
        start = end + 2
    titles = "     Bytes Format Units   Label    Explanations"
    text = [f"Byte-by-byte Description of file: {cds_path.name}", _RULE, titles, _RULE, *lines, _RULE, ""]
    (folder / "ReadMe").write_text("\n".join(text))
    random = np.random.default_rng(1)
    row = " ".join(f"{{:{format_}}}" for *_, format_ in _COLUMNS) + "\n"
    padded = " " + " ".join(f"{{:>{width}}}" for width in widths) + " \n"
    with ipac_path.open("w") as ipac, cds_path.open("w") as cds:
        header = zip(*((name, kind, "", "null") for name, kind, *_ in _COLUMNS), strict=True)
        for words in header:
            ipac.write("|" + "|".join(word.rjust(width) for word, width in zip(words, widths, strict=True)) + "|\n")
        for _ in range(0, rows, _BLOCK):
            block = [row.format(*values) for values in zip(*_list_values(random), strict=True)]
            cds.writelines(block)
            ipac.writelines(padded.format(*line.split()) for line in block)
    return ipac_path, cds_path, *_write_delimited(folder, cds_path)


def _write_delimited(folder: Path, cds_path: Path) -> tuple[Path, ...]:
    """Write the rows of the CDS table with a header, delimited by commas, the same gzipped, and by blanks."""
    names = [name for name, *_ in _COLUMNS]
    paths = (folder / "stars.csv", folder / "stars.csv.gz", folder / "stars.txt")
    with (
        cds_path.open() as rows,
        paths[0].open("w") as csv,
        gzip.open(paths[1], "wt") as zipped,
        paths[2].open("w") as txt,
    ):
        for file, delimiter in ((csv, ","), (zipped, ","), (txt, "  ")):
            file.write(delimiter.join(names) + "\n")
        for line in rows:
            joined = ",".join(line.split()) + "\n"
            csv.write(joined)
            zipped.write(joined)
            txt.write(joined.replace(",", "  "))
    return paths


def _list_values(random: np.random.Generator) -> list[list[object]]:
    def pick(high: int) -> list[object]:
        return random.integers(0, high, _BLOCK).tolist()

    def measure(high: float) -> list[object]:
        values = random.uniform(0, high, _BLOCK)
        values[random.random(_BLOCK) < 0.1] = high
        return values.tolist()

    signs: list[object] = ["+-"[number] for number in random.integers(0, 2, _BLOCK)]
    words: list[list[object]] = [
        [f"{word}{number}" for number in pick(high)] for word, high in (("A", 999), ("TYC", 9**8))
    ]
    seconds = [random.uniform(0, 59.9, _BLOCK).tolist() for _ in range(2)]
    magnitudes = [measure(99.999) for _ in range(8)]
    dates: list[object] = [f"2010-01-{day + 1:02d}" for day in random.integers(0, 31, _BLOCK)]
    position = [pick(24), pick(60), seconds[0], signs, pick(90), pick(60), seconds[1]]
    return [pick(2**62), *position, *magnitudes, pick(99_999), *words, dates]


def read_file(path: Path) -> None:
    """Read a file in this process; print rows, seconds to slice, seconds with casts, and the peak memory."""
    source = open_source(path, ReadOptions(delimiter=" " if path.suffix == ".txt" else ""))
    schema, _ = read_schema(document_to_yaml(describe_source(source, "bench", "t")), str(path))
    conformer = Conformer(schema.tables[0], source)
    began = time.process_time()
    rows = sum(block.batch.num_rows for block in source.read_blocks(conformer.source_names))
    sliced = time.process_time()
    kept = sum(conformer.conform_block(block)[0].num_rows for block in source.read_blocks(conformer.source_names))
    cast = time.process_time()
    assert rows == kept, f"{rows - kept} bad rows"
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    megabytes = path.stat().st_size / 1e6
    print(
        f"{path.suffix}: {rows:,} rows of {megabytes / rows * 1e6:.0f} bytes, {len(conformer.schema)} columns; "
        f"a core reads {rows / (sliced - began):,.0f} rows/s, with casts {rows / (cast - sliced):,.0f}; "
        f"peak memory {peak:.0f} MB"
    )


def main(rows: int = ROWS) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for path in write_files(Path(folder), rows):
            subprocess.run([sys.executable, "-m", "tests.benchmarks.bench_texts", str(path)], check=True)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        read_file(Path(sys.argv[1]))
    else:
        main()
