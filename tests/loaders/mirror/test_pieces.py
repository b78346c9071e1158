"""Pieces of a table: each row is in exactly one piece, whatever its values."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loaders.load_error import LoadError
from loaders.mirror.file_list import expand_pattern, read_links
from loaders.mirror.mirror_state import JournalEntry, MirrorState, find_loaded
from loaders.mirror.tap_pieces import ColumnRange, TablePiece, divide_table

Rows = list[tuple[float | None, float | None]]

#: Values on borders that arise from halving, and other values
LONGITUDES = st.one_of(st.none(), st.sampled_from([0.0, 45.0, 90.0, 180.0, 270.0, 360.0, -0.0]), st.floats(-180, 360))
LATITUDES = st.one_of(st.none(), st.sampled_from([-90.0, -45.0, 0.0, 45.0, 90.0]), st.floats(-90, 90))


class SqlTable:
    """Rows in SQLite, which counts the rows of pieces by their conditions."""

    def __init__(self, rows: Rows) -> None:
        self._connection = sqlite3.connect(":memory:")
        self._connection.execute("CREATE TABLE t (ra REAL, dec REAL)")
        self._connection.executemany("INSERT INTO t VALUES (?, ?)", rows)

    def ask(self, expression: str, condition: str = "") -> tuple[float, ...]:
        where = f" WHERE {condition}" if condition else ""
        return tuple(self._connection.execute(f"SELECT {expression} FROM t{where}").fetchone())

    def count(self, piece: TablePiece) -> int:
        return int(self.ask("COUNT(*)", piece.condition)[0])

    def find_range(self, column: str) -> ColumnRange:
        low, high = self.ask(f"COALESCE(MIN({column}), 0), COALESCE(MAX({column}), 0)")
        return ColumnRange(column, low, high)

    def close(self) -> None:
        self._connection.close()


@given(st.lists(st.tuples(LONGITUDES, LATITUDES), min_size=1, max_size=60, unique=True))
def test_each_row_is_in_one_piece(rows: Rows) -> None:
    table = SqlTable(rows)
    limit = max(5, sum(None in row for row in rows))  # rows without a position cannot be divided
    ranges = [table.find_range("ra"), table.find_range("dec")]
    pieces = list(divide_table(table.count, ranges, len(rows), limit))
    conditions = [f"({found.piece.condition or '1 = 1'})" for found in pieces]
    hits = " + ".join(f"COALESCE({condition}, 0)" for condition in conditions)
    assert table.ask(f"MIN({hits}), MAX({hits})") == (1, 1)
    assert all(0 < found.rows <= limit for found in pieces)
    table.close()


def test_whole_numbers_are_divided_down_to_one() -> None:
    def count(piece: TablePiece) -> int:
        if piece.nulls:
            return 0
        low, high = piece.ranges[0].low, piece.ranges[0].high
        return sum((low is None or n >= low) and (high is None or n < high) for n in range(2**40, 2**40 + 10))

    pieces = list(divide_table(count, [ColumnRange("id", 2**40, 2**40 + 9)], 10, 1))
    assert len(pieces) == 10
    assert f"id >= {2**40 + 9}" in {found.piece.condition for found in pieces}


def test_a_reserved_word_is_quoted() -> None:
    assert ColumnRange("size", 0, 1, low=0.5).condition == '"size" >= 0.5'


def test_a_part_with_other_rows_than_its_halves_is_an_error() -> None:
    with pytest.raises(LoadError, match="the table has 100 rows, but its parts have 60: values are NaN"):
        list(divide_table(lambda piece: 30, [ColumnRange("ra", 0.0, 360.0)], 100, 50))


@pytest.mark.parametrize(
    ("pattern", "wanted"),
    [
        ("x", ["x"]),
        ("p{08..11}.gz", ["p08.gz", "p09.gz", "p10.gz", "p11.gz"]),
        ("{a..b}{1..2}", ["a1", "a2", "b1", "b2"]),
    ],
)
def test_patterns_are_expanded_in_order(pattern: str, wanted: list[str]) -> None:
    assert expand_pattern(pattern) == wanted


def test_links_to_other_servers_are_left_out() -> None:
    page = "".join(
        f'<a href="{link}">x</a>'
        for link in ("a.gz", "b%20c.gz", "../d.gz", "/e.gz", "http://x/f.gz", "?C=M", "g/", "a.gz", "#top")
    )
    assert read_links(page) == ["a.gz", "b c.gz"]


def test_a_truncated_line_of_the_journal_is_ignored(tmp_path: Path) -> None:
    state = MirrorState(tmp_path)
    entries = [JournalEntry(file=number, digest="d", chunks={number * 4096 + 1: 5}) for number in range(3)]
    for entry in entries:
        state.write_entry(entry)
    path = tmp_path / "mirror_journal.jsonl"
    path.write_bytes(path.read_bytes()[:-10])
    assert state.read_journal() == dict(enumerate(entries[:2]))
    state.write_entry(entries[2])
    assert state.read_journal() == dict(enumerate(entries))


def test_files_count_as_loaded_up_to_the_first_that_the_table_lacks() -> None:
    journal = {number: JournalEntry(file=number, digest="d", chunks={number: 5}) for number in (0, 1, 3)}
    assert find_loaded(journal, {0: 5, 1: 5, 3: 5}) == [journal[0], journal[1]]
    assert find_loaded(journal, {0: 5, 1: 4}) == [journal[0]]
    assert find_loaded(journal, {}) == []


def test_a_mirror_deletes_only_its_own_files(tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "mine.txt").touch()
    state = MirrorState(tmp_path)
    state.clear()
    state.remove()
    assert {path.name for path in tmp_path.iterdir()} == {"files", "mine.txt"}
