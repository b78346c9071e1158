"""Load a few tables while parts are killed, including the loader; repeat each load until it succeeds."""

from __future__ import annotations

import itertools
import random
import subprocess
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.chaos.known_rows import SCHEMA, Question, Rows, count_table, write_rows
from tests.chaos.processes import Deployment

STARS_TABLE = "chaos.stars"
TABLES = ("chaos.north", "chaos.east", "chaos.south")

#: rows of the file of a load: a part of a chunk, or more than one chunk
_ROWS = (5_000, 100_000, 1_200_000)

#: time for which a service or worker may use an old catalogue after a load
_STALE_SECONDS = 5.0

_PAUSE_SECONDS = 0.5

#: the loader is killed within this number of seconds after its start
_KILL_SECONDS = 4.0


@dataclass
class Content:
    """The contents of a table from ``since``, when its load starts, to ``until``, when the next load ends."""

    count: int
    id_sum: int
    since: float
    until: float = float("inf")
    is_append: bool = False


@dataclass
class LoadLog:
    """``failures`` counts the commands that failed without a kill, by their last line."""

    modes: Counter[str] = field(default_factory=Counter)
    kills: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


class Loads:
    """Runs loads one after the other, and knows the contents of the tables at any time."""

    def __init__(
        self,
        deployment: Deployment,
        dice: random.Random,
        sizes: Sequence[int] = _ROWS,
        modes: Sequence[str] = ("append", "replace"),
    ) -> None:
        self.log = LoadLog()
        self._sizes = sizes
        self._modes = modes
        self._deployment = deployment
        self._dice = dice
        self._contents: dict[str, list[Content]] = {}
        self._next_id = 0

    def create_stars(self, count: int) -> Path:
        """Load chaos.stars, undisturbed; return its file."""
        file = self._write_file(STARS_TABLE, count)
        if self._load_once(STARS_TABLE, file, "create") != 0:
            raise RuntimeError(f"{STARS_TABLE} cannot be loaded: {self._last_line()}")
        return file

    def run(self, count: int, seconds: float, deadline: float) -> None:
        """Run ``count`` loads evenly over ``seconds``."""
        start = time.monotonic()
        for number in range(count):
            time.sleep(max(0.0, start + seconds * number / count - time.monotonic()))
            table = TABLES[number % len(TABLES)]
            mode = self._dice.choice(self._modes) if table in self._contents else "create"
            if not self._load_until_done(table, mode, deadline):
                self.log.problems.append(f"the {mode} of {table} does not end: {self._last_line()}")
                return

    def choose_question(self, dice: random.Random) -> Question | None:
        """Return a query of a table that a load may be changing; None if there is no table yet."""
        ready = sorted(self._contents)
        if not ready:
            return None
        table, asked = dice.choice(ready), time.monotonic()
        return count_table(table, lambda rows: self._is_content(table, rows, asked))

    def latest_contents(self) -> dict[str, tuple[int, int]]:
        """Return the number of rows and the sum of ids of each loaded table."""
        return {table: (contents[-1].count, contents[-1].id_sum) for table, contents in self._contents.items()}

    def _is_content(self, table: str, rows: Rows, asked: float) -> bool:
        """Return whether the table had these rows at any time since ``asked``.

        On a cluster, a part of an appended load is accepted too.
        """
        current = [content for content in self._contents[table] if content.until >= asked - _STALE_SECONDS]
        [(count, id_sum)] = rows
        if (count, id_sum) in [(content.count, content.id_sum) for content in current]:
            return True
        appends = [(old, new) for old, new in itertools.pairwise(current) if new.is_append]
        return len(self._deployment.servers) > 1 and any(old.count < count < new.count for old, new in appends)

    def _load_until_done(self, table: str, mode: str, deadline: float) -> bool:
        rows = self._dice.choice(self._sizes)
        kills = [self._dice.uniform(0.5, _KILL_SECONDS) for _ in range(self._dice.choice([0, 1, 1, 2]))]
        begun = time.monotonic()
        content = Content(rows, sum(range(self._next_id, self._next_id + rows)), begun, is_append=mode == "append")
        file = self._write_file(table, rows)
        earlier = self._contents.get(table, [])
        if content.is_append:
            content.count += earlier[-1].count
            content.id_sum += earlier[-1].id_sum
        if earlier:
            earlier.append(content)
        while time.monotonic() < deadline:
            code = self._load_once(table, file, mode, kills[-1] if kills else None)
            if code == 0:
                if earlier:
                    earlier[-2].until = time.monotonic()
                self._contents.setdefault(table, [content])
                self.log.modes[mode] += 1
                self.log.seconds.append(time.monotonic() - begun)
                file.unlink()
                return True
            if code < 0:
                self.log.kills += 1
                kills.pop()
            else:
                self.log.failures[self._last_line()] += 1
            time.sleep(_PAUSE_SECONDS)
        return False

    def _load_once(self, table: str, file: Path, mode: str, kill_after: float | None = None) -> int:
        schema = self._deployment.folder / f"{table}.yaml"
        schema.write_text(SCHEMA.format(table=table.partition(".")[2]))
        arguments = ["load", str(file), "--table", table, "--schema", str(schema)]
        process = self._deployment.start_command(
            *arguments, *([] if mode == "create" else [f"--{mode}"]), output="loads.log"
        )
        try:
            return process.wait(kill_after)
        except subprocess.TimeoutExpired:
            process.kill()
            return process.wait()

    def _write_file(self, table: str, rows: int) -> Path:
        file = self._deployment.folder / f"{table}-{self._next_id}.parquet"
        write_rows(file, self._next_id, rows)
        self._next_id += rows
        return file

    def _last_line(self) -> str:
        lines = (self._deployment.folder / "loads.log").read_text(errors="replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "")
