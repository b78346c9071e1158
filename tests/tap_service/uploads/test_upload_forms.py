"""The sender chooses how an uploaded file is read, after ``#``; the result reports the detected form."""

from __future__ import annotations

import bz2
import io

import httpx
import numpy as np
import pytest
from astropy.io import fits, votable

from tests.support.running_service import RunningService
from tests.tap_service.uploads.test_query_uploads import rows


def ask(service: RunningService, content: bytes, choices: str, query: str, form: str = "arrow") -> httpx.Response:
    data = {"QUERY": query, "UPLOAD": f"t,param:f{choices}", "FORMAT": form}
    return httpx.post(service.sync, data=data, files={"f": ("f", content)}, timeout=60)


@pytest.mark.parametrize(
    ("content", "choices", "expected"),
    [
        (b"10.5|\\N\n11.5|3\n", "#header=false&delimiter=|", [(10.5, None), (11.5, 3)]),
        (b"a b\n1   -99\n2     3\n", "#delimiter=blanks&null=-99", [(1, None), (2, 3)]),
        (b"a;b\n1;x\n2;-\n", "#format=csv&null=-&null=%20", [(1, "x"), (2, None)]),
        (b"a,b\n! none\n1,2\n", "#comment=!", [(1, 2)]),
        (bz2.compress(b"a,b\n1,2\n"), "", [(1, 2)]),
    ],
)
def test_the_choices_of_the_sender_count(
    service: RunningService, content: bytes, choices: str, expected: list[object]
) -> None:
    assert rows(ask(service, content, choices, "SELECT * FROM TAP_UPLOAD.t ORDER BY 1")) == expected


def test_times_that_are_cut_late_in_a_file_are_counted(service: RunningService) -> None:
    plain = b"2024-02-29T12:00:00\n" * 20_000
    content = b"t\n" + plain + b"2024-02-29T12:00:00.1234567\n"
    answer = ask(service, content, "", "SELECT COUNT(*) FROM TAP_UPLOAD.t", "votable")
    assert "Table t: column t: 1 time was cut to microseconds." in answer.text


def test_the_hdu_of_a_fits_file_is_chosen(service: RunningService) -> None:
    file = io.BytesIO()
    tables = [fits.BinTableHDU.from_columns([fits.Column("n", "J", array=np.array([n]))]) for n in (5, 6)]
    fits.HDUList([fits.PrimaryHDU(), *tables]).writeto(file)
    assert rows(ask(service, file.getvalue(), "#hdu=2", "SELECT n FROM TAP_UPLOAD.t")) == [(6,)]


@pytest.mark.parametrize(
    ("choices", "reason"),
    [
        ("#hdu=2", "is a CSV file: #hdu is for files of FITS"),
        ("#table=2", "is a CSV file: #table is for files of"),
        (
            "#sheet=2",
            "there is no option 'sheet'; the options are format, hdu, table, delimiter, header, comment, null",
        ),
        ("#delimiter=ab", "is not one ASCII character"),
        ("#header=maybe", "header must be true or false, not 'maybe'"),
        ("#2", "write for example param:file#hdu=2"),
    ],
)
def test_a_choice_that_cannot_be_is_refused(service: RunningService, choices: str, reason: str) -> None:
    answer = ask(service, b"a,b\n1,2\n", choices, "SELECT * FROM TAP_UPLOAD.t")
    assert answer.status_code == 400
    assert reason in answer.text.replace("&#39;", "'")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (
            b"1,2\n3,4\n",
            "If it is a row, say #header=false, or add a line with their names; if it has the names, say #header=true",
        ),
        (b"1 2\n3 4\n", "Say #delimiter=blanks, or #delimiter=, if each line is one field"),
    ],
)
def test_errors_name_the_choices_of_uploads(service: RunningService, content: bytes, reason: str) -> None:
    answer = ask(service, content, "", "SELECT * FROM TAP_UPLOAD.t")
    assert answer.status_code == 400
    assert reason in answer.text


def test_notes_name_the_choices_of_uploads(service: RunningService) -> None:
    answer = ask(service, b"n\n1.5\nnan\n", "", "SELECT * FROM TAP_UPLOAD.t", "votable")
    assert "has nan, which stays NaN (#null=nan makes it NULL)" in answer.text


def test_ids_beyond_bigint_stay_different_and_the_sender_learns_of_it(service: RunningService) -> None:
    content = b"id,n\n1,1\n10355091442541213696,2\n10355091442541213697,3\n"
    query = "SELECT COUNT(DISTINCT id) AS ids, MAX(id) AS greatest FROM TAP_UPLOAD.t"
    answer = ask(service, content, "", query, "votable")
    assert answer.status_code == 200, answer.text
    table = votable.parse(io.BytesIO(answer.content)).get_first_table()
    assert list(table.array[0]) == [3, "10355091442541213697"]
    assert "column id stays text: 10355091442541213696 is beyond BIGINT" in answer.text


def test_decimals_late_in_a_column_of_large_ids_make_it_text(service: RunningService) -> None:
    """As DOUBLE, the first two would be equal."""
    content = b"id\n1237648720693755918\n1237648720693755919\n1.5\n"
    query = "SELECT id FROM TAP_UPLOAD.t ORDER BY id"
    assert rows(ask(service, content, "", query)) == [("1.5",), ("1237648720693755918",), ("1237648720693755919",)]
