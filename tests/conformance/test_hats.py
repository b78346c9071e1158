"""HATS collections of the demo's tables, read by LSDB over HTTP without Skyhouse's code."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import pyvo

ARCSEC = 10.0

#: LSDB takes long to start
pytestmark = pytest.mark.timeout(300)


def test_lsdb_finds_the_pairs_that_adql_finds(tap_url: str) -> None:
    collections = tap_url.removesuffix("/tap") + "/hats"
    query = f"""SELECT o.name, s.tyc_id FROM openngc.objects AS o JOIN tycho2.bright AS s
        ON DISTANCE(POINT(o.ra, o.dec), POINT(s.ra, s.dec)) < {ARCSEC} / 3600"""
    expected = sorted((str(row["name"]), str(row["tyc_id"])) for row in pyvo.dal.TAPService(tap_url).search(query))

    script = Path(__file__).with_name("lsdb_pairs.py")
    addresses = [f"{collections}/openngc.objects", f"{collections}/tycho2.bright"]
    ran = subprocess.run([sys.executable, script, *addresses, str(ARCSEC)], capture_output=True, text=True)

    assert ran.returncode == 0, ran.stderr[-2000:]
    assert len(expected) > 10
    assert [tuple(pair) for pair in json.loads(ran.stdout.splitlines()[-1])] == expected
