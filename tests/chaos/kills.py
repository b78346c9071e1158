"""Kills components at random, in an order that a seed repeats, and starts each again after a moment."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from tests.chaos.processes import Part

_MAX_AWAY_SECONDS = 5.0
_TICK_SECONDS = 0.1


@dataclass
class Killer:
    """``parts`` by kind, each killed once in a round; ``mean_seconds`` between two kills. ``log`` gets each with its
    time.

    Servers end with the thread that starts them: use the main thread.
    """

    parts: dict[str, list[Part]]
    seed: int
    mean_seconds: float
    log: Path
    kills: Counter[str] = field(default_factory=Counter)
    ended: Counter[str] = field(default_factory=Counter)
    _away: dict[int, float] = field(default_factory=dict)

    def kill_for(self, seconds: float) -> None:
        dice = random.Random(self.seed)
        until = time.monotonic() + seconds
        for kind in self._draw_kinds(dice):
            pause = dice.uniform(0.2, 1.8) * self.mean_seconds
            part, away = dice.choice(self.parts[kind]), dice.uniform(0.2, _MAX_AWAY_SECONDS)
            if time.monotonic() + pause > until:
                break
            self._tend_for(pause)
            if part.kill():
                self.kills[kind] += 1
                self._away[id(part)] = time.monotonic() + away
                self._note(part, "killed")
        self._tend_for(until - time.monotonic())

    def _draw_kinds(self, dice: random.Random) -> Iterator[str]:
        while True:
            yield from dice.sample(list(self.parts), len(self.parts))

    def tend_until(self, is_over: Callable[[], bool]) -> None:
        """Start components that are not running, and killed ones after their pause, until ``is_over``."""
        while not is_over():
            for kind, parts in self.parts.items():
                for part in parts:
                    self._tend(kind, part)
            time.sleep(_TICK_SECONDS)

    def _tend_for(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        self.tend_until(lambda: time.monotonic() >= until)

    def _tend(self, kind: str, part: Part) -> None:
        if part.is_running:
            self._away.pop(id(part), None)
        elif id(part) not in self._away:
            self.ended[kind] += 1  # it has ended without a kill: it is started again after a second, as systemd does
            self._away[id(part)] = time.monotonic() + 1
            self._note(part, "ended by itself")
        elif time.monotonic() >= self._away[id(part)]:
            del self._away[id(part)]
            part.start()
            self._note(part, "started")

    def _note(self, part: Part, what: str) -> None:
        with self.log.open("a") as log:
            log.write(f"{datetime.now().isoformat(timespec='milliseconds')} {part.name} {what}\n")
