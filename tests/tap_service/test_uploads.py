"""Uploaded tables, as clients send them."""

from __future__ import annotations

import io
from typing import Any

import httpx
import numpy as np
import pytest
import pyvo
from astropy.table import Table

from tests.tap_service.asking import create


def stars(count: int = 5) -> Table:
    table = Table({"id": np.arange(count), "ra": np.linspace(0, 350, count), "dec": np.linspace(-80, 80, count)})
    table["ra"].unit = table["dec"].unit = "deg"
    return table


def csv(response: httpx.Response) -> list[str]:
    assert response.status_code == 200, response.text
    return response.text.splitlines()


def test_inline(service: Any) -> None:
    data = {"QUERY": "SELECT n, word FROM TAP_UPLOAD.mine ORDER BY n", "UPLOAD": "mine,param:file", "FORMAT": "csv"}
    answer = httpx.post(service.sync, data=data, files={"file": ("t.csv", b"n,word\n1,a\n2,b\n")})
    assert csv(answer) == ["n,word", "1,a", "2,b"]


def test_pyvo(service: Any) -> None:
    tap = pyvo.dal.TAPService(service.tap)
    found = tap.run_sync("SELECT * FROM TAP_UPLOAD.mine ORDER BY id", uploads={"mine": stars()})
    assert list(found["id"]) == [0, 1, 2, 3, 4]
    job = tap.run_async("SELECT * FROM TAP_UPLOAD.mine ORDER BY id", uploads={"mine": stars()})
    assert list(job["ra"]) == list(stars()["ra"])
