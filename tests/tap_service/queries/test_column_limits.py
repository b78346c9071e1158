"""FITS has at most 999 columns: a larger result is refused before anything is sent, with advice."""

from __future__ import annotations

import io

import httpx
import pytest
from astropy.io import fits

from tests.support.running_service import RunningService


def ask(service: RunningService, columns: int, form: str) -> httpx.Response:
    select = ", ".join(f"n AS c{number}" for number in range(columns))
    data = {"QUERY": f"SELECT TOP 1 {select} FROM svc.numbers", "FORMAT": form}
    return httpx.post(service.sync, data=data, timeout=60)


def test_a_fits_file_of_999_columns_is_written(service: RunningService) -> None:
    with fits.open(io.BytesIO(ask(service, 999, "fits").content)) as hdus:
        assert len(hdus[1].columns) == 999


def test_more_columns_are_refused_with_the_way_out(service: RunningService) -> None:
    answer = ask(service, 1000, "fits")
    assert answer.status_code == 400
    assert "FITS has at most 999 columns, and the result has 1,000: select fewer columns" in answer.text
    assert "or use the format parquet or votable" in answer.text


@pytest.mark.parametrize("form", ["parquet", "votable", "csv"])
def test_other_formats_have_more(service: RunningService, form: str) -> None:
    assert ask(service, 1000, form).status_code == 200
