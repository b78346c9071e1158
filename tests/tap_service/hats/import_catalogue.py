"""hats-import as its users run it, in a separate process: ``python -W ignore -m ... FILE FOLDER NAME``.

Dask's threads and warnings stay there.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.support.environment import ROOT

#: maximum number of rows of a partition
PIXEL_THRESHOLD = 300


def import_catalogue(file: Path, folder: Path, name: str) -> Path:
    """Make the collection ``name`` of a Parquet file with the columns ra and dec; return its folder."""
    module = "tests.tap_service.hats.import_catalogue"
    command = [sys.executable, "-W", "ignore", "-m", module, str(file), str(folder), name]
    done = subprocess.run(command, check=False, cwd=ROOT, capture_output=True, text=True, timeout=110)
    assert done.returncode == 0, done.stderr
    return folder / name


def _run_import(file: str, folder: str, name: str) -> None:
    from dask.distributed import Client
    from hats_import.collection.arguments import CollectionArguments
    from hats_import.collection.run_import import run

    wanted = CollectionArguments(output_artifact_name=name, output_path=folder, tmp_dir=folder, progress_bar=False)
    wanted = wanted.catalog(
        input_file_list=[file],
        file_reader="parquet",
        ra_column="ra",
        dec_column="dec",
        pixel_threshold=PIXEL_THRESHOLD,
        byte_pixel_threshold=None,
        highest_healpix_order=7,
    )
    # without an address the scheduler's HTTP server would take Dask's port 8787, and the worker's one of each interface
    addresses = {"dashboard_address": "127.0.0.1:0", "dashboard": False}
    threads = {"n_workers": 1, "threads_per_worker": 2, "worker_dashboard_address": "127.0.0.1:0"}
    with Client(processes=False, **threads, scheduler_kwargs=addresses) as client:
        run(wanted, client)


if __name__ == "__main__":
    _run_import(*sys.argv[1:])
