"""LSDB's crossmatch of HATS files, on a Dask worker for each core.

``n_neighbors`` is 1 for the nearest and for rows without a partner; for all pairs it is the largest number of
partners of a row, which a user would have to know. Numbers are computed in each partition, and lists are combined by
Dask.
"""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from dask.distributed import Client

from tests.benchmarks.matches.match_kinds import ARCSEC, KINDS, LEFT_ID, RIGHT_ID
from tests.benchmarks.matches.peers.peer import MatchTask, Peer

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import lsdb

_IDS = {"id_left": LEFT_ID, "id_right": RIGHT_ID}


def _count_rows(part: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"found": [len(part)]})


def _count_alone(part: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"found": [int(part["id_right"].isna().sum())]})


def _sum_ids(part: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"found": [int((part["id_left"] + part["id_right"]).sum())]})


_NUMBERS = {"counted": _count_rows, "without": _count_alone, "summed": _sum_ids}


class LsdbPeer(Peer):
    def start(self, task: MatchTask) -> None:
        warnings.simplefilter("ignore")
        self._client = Client(
            n_workers=os.cpu_count(), threads_per_worker=1, dashboard_address=None, local_directory=str(task.scratch)
        )
        self._client.run(warnings.simplefilter, "ignore")
        self._client.run(__import__, "lsdb")
        self._match(task)  # numba compiles for 12 s in each new process, whatever the rows

    def find(self, task: MatchTask) -> int | Path:
        matched = self._match(task)
        if task.kind in _NUMBERS:
            parts = matched.map_partitions(_NUMBERS[task.kind], meta=pd.DataFrame({"found": pd.Series(dtype="int64")}))
            return int(parts.compute()["found"].sum())
        found = matched[list(_IDS)].compute().rename(columns=_IDS)
        pq.write_table(pa.Table.from_pandas(pd.DataFrame(found), preserve_index=False), task.result)
        return task.result

    def _match(self, task: MatchTask) -> Any:
        kind = KINDS[task.kind]
        if task.kind == "small":
            left = lsdb.from_dataframe(pd.read_parquet(task.data.parquet(kind.left)), ra_column="ra", dec_column="dec")
        else:
            left = lsdb.open_catalog(task.data.hats(kind.left))
        return left.crossmatch(
            lsdb.open_catalog(task.data.hats(kind.right)),
            radius_arcsec=ARCSEC,
            n_neighbors=1 if task.kind in ("nearest", "without") else task.data.most_partners,
            how="left" if task.kind in ("left", "without") else "inner",
            suffixes=("_left", "_right"),
            suffix_method="all_columns",
        )

    def stop(self) -> None:
        self._client.close()
