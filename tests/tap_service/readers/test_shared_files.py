"""The collection of small files with problems that users have reported, if it is next to the project.

``shared_files.tsv`` has the result of each: its columns and types, its first rows, and its rejects; or the error.
``python -m tests.tap_service.readers.test_shared_files`` prints it again, for comparison by eye.
"""

from __future__ import annotations

import re
from ast import literal_eval
from collections.abc import Iterator
from pathlib import Path

import pytest

from loaders.pipeline.describe_file import find_doubts
from tap_service.models.read_options import AS_DETECTED, ReadOptions
from tap_service.readers.file_formats import open_source
from tap_service.readers.read_error import ReadError
from tests.support.environment import ROOT
from tests.tap_service.readers.reading import read_source

FOLDER = ROOT.parent / "shared" / "data" / "files"
EXPECTED = Path(__file__).with_name("shared_files.tsv")

#: options that an operator gives for files that do not show them
OPTIONS = {"twomass_noheader.psv": ReadOptions(header=False)}
_MAX_SHOWN = 6
_MAX_WIDTH = 12


def show_file(path: Path) -> Iterator[str]:
    """Yield columns, notes, rows and rejects, or the error, each as one line of text."""
    try:
        source = open_source(path, OPTIONS.get(path.name, AS_DETECTED))
    except ReadError as error:
        yield f"refused: {str(error).replace(str(path), 'FILE')}"
        return
    fields = source.fields[:_MAX_WIDTH]
    yield "columns: " + ", ".join(
        f"{field.name} {field.type.adql}{_show_size(field.type.arraysize)}" for field in fields
    )
    for note in source.notes:
        yield f"note: {note}"
    for name, reason in source.unusable.items():
        yield f"unusable: {name}: {reason}"
    if source.unusable:
        return
    for doubt in find_doubts(source):
        yield f"doubt: {doubt.removeprefix(f'{path}: ')}"
    rows, rejects = read_source(source)
    for row in rows[:_MAX_SHOWN]:
        yield "row: " + ", ".join(_show_value(value) for value in row[:_MAX_WIDTH])
    for reject in rejects[:_MAX_SHOWN]:
        yield f"bad: {source.unit} {reject.where} {reject.column} {reject.value!r} {reject.reason}"


def _show_size(arraysize: str) -> str:
    return f"({arraysize})" if arraysize not in ("", "*") else ""


def _show_value(value: object) -> str:
    return re.sub(r"datetime.*", str(value), repr(value)) if hasattr(value, "isoformat") else repr(value)


def read_expected() -> dict[str, list[str]]:
    lines = [line.split("\t") for line in EXPECTED.read_text().splitlines()]
    return {name: [literal_eval(line) for _, line in found] for name, found in _group(lines)}


def _group(lines: list[list[str]]) -> Iterator[tuple[str, list[list[str]]]]:
    for name in dict.fromkeys(line[0] for line in lines):
        yield name, [line for line in lines if line[0] == name]


@pytest.mark.skipif(not FOLDER.is_dir(), reason="the collection is not next to the project")
@pytest.mark.parametrize("name", read_expected())
def test_a_file_gives_the_expected_result(name: str) -> None:
    assert [*show_file(FOLDER / name)] == read_expected()[name]


@pytest.mark.skipif(not FOLDER.is_dir(), reason="the collection is not next to the project")
def test_every_file_of_the_collection_is_tried() -> None:
    assert {path.name for path in FOLDER.iterdir()} - {"expected.md"} == read_expected().keys()


if __name__ == "__main__":
    for path in sorted(FOLDER.iterdir()):
        for line in show_file(path) if path.name != "expected.md" else ():
            print(path.name, repr(line), sep="\t")
