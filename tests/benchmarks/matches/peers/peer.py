"""The interface of a peer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.matches.match_data import MatchData


@dataclass(frozen=True)
class MatchTask:
    """A kind of match, its data, a folder for results and temporary files, and the bytes of memory that it may use."""

    kind: str
    data: MatchData
    scratch: Path
    memory: int

    @property
    def result(self) -> Path:
        return self.scratch / "pairs.parquet"


class Peer(ABC):
    """A program that matches two catalogues."""

    def start(self, task: MatchTask) -> None:  # noqa: B027 (most have nothing to start)
        """Do what belongs to the start of the program, before the clock starts."""

    @abstractmethod
    def find(self, task: MatchTask) -> int | Path:
        """Match, from the files to the number or to the file of pairs."""

    def stop(self) -> None:  # noqa: B027
        """Release the resources of ``start``."""
