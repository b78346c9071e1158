"""DuckDB: an equality join on cubes of unit vectors, then the exact test, directly from Parquet.

With zones of declination alone, the candidates would grow with the square of the rows. The rows of the right side, or
of the small one, are repeated for each cube that their ball touches.
"""

from __future__ import annotations

from pathlib import Path

import duckdb

from tests.benchmarks.matches.match_kinds import KINDS, LEFT_ID, RIGHT_ID
from tests.benchmarks.matches.peers.peer import MatchTask, Peer
from tests.benchmarks.matches.unit_vectors import CHORD

#: the side of a cube: a row is repeated 1.4 times
_SIDE = 16 * CHORD
#: the part of the memory that DuckDB may count before it writes to disk
_LIMIT = 0.8

_VECTORS = """SELECT id, cos(radians(dec)) * cos(radians(ra)) AS x, cos(radians(dec)) * sin(radians(ra)) AS y,
    sin(radians(dec)) AS z FROM read_parquet('{path}')"""


def _touch(axis: str) -> str:
    """Return an expression with a row for each cube that the ball of a row touches along an axis."""
    first, last = (f"floor(({axis} {sign} {CHORD!r}) / {_SIDE!r})::BIGINT" for sign in "-+")
    return f"unnest(range({first}, {last} + 1)) AS c{axis}"


_CUBE = f"""floor(x / {_SIDE!r})::BIGINT * 4294967296 + floor(y / {_SIDE!r})::BIGINT * 65536
    + floor(z / {_SIDE!r})::BIGINT"""
_SIDES = f"""WITH single AS (SELECT *, {_CUBE} AS cube FROM ({{single}})),
    along_x AS (SELECT *, {_touch("x")} FROM ({{repeated}})),
    along_y AS (SELECT *, {_touch("y")} FROM along_x),
    along_z AS (SELECT *, {_touch("z")} FROM along_y),
    repeated AS (SELECT id, x, y, z, cx * 4294967296 + cy * 65536 + cz AS cube FROM along_z)"""
_SQUARE = "pow(single.x - repeated.x, 2) + pow(single.y - repeated.y, 2) + pow(single.z - repeated.z, 2)"
_ON = f"repeated ON single.cube = repeated.cube AND {_SQUARE} <= {CHORD**2!r}"
_IDS = f"single.id AS {LEFT_ID}, repeated.id AS {RIGHT_ID}"

_SELECT = {
    "counted": f"SELECT count(*) FROM single JOIN {_ON}",
    "summed": f"SELECT sum(single.id + repeated.id)::BIGINT FROM single JOIN {_ON}",
    "listed": f"SELECT {_IDS} FROM single JOIN {_ON}",
    "without": f"SELECT count(*) FROM single ANTI JOIN {_ON}",
    "left": f"SELECT {_IDS} FROM single LEFT JOIN {_ON}",
    "nearest": f"""SELECT single.id AS {LEFT_ID}, arg_min(repeated.id, {_SQUARE}) AS {RIGHT_ID}
        FROM single JOIN {_ON} GROUP BY single.id""",
    "small": f"SELECT repeated.id AS {LEFT_ID}, single.id AS {RIGHT_ID} FROM single JOIN {_ON}",
}


class DuckdbPeer(Peer):
    def start(self, task: MatchTask) -> None:
        self._connection = duckdb.connect(
            config={"temp_directory": str(task.scratch), "memory_limit": f"{int(task.memory * _LIMIT)}B"}
        )

    def find(self, task: MatchTask) -> int | Path:
        kind = KINDS[task.kind]
        names = (kind.right, kind.left) if task.kind == "small" else (kind.left, kind.right)
        single, repeated = (_VECTORS.format(path=task.data.parquet(name)) for name in names)
        query = f"{_SIDES.format(single=single, repeated=repeated)} {_SELECT[task.kind]}"
        if kind.is_list:
            self._connection.execute(f"COPY ({query}) TO '{task.result}'")
            return task.result
        row = self._connection.execute(query).fetchone()
        assert row is not None
        return int(row[0])

    def stop(self) -> None:
        self._connection.close()
