"""STILTS, on which TOPCAT is based, with the running service and the demo's tables."""

from __future__ import annotations

import io
import re

import httpx
import pytest
from astropy.io.votable import parse_single_table

from tests.support.stilts import run_stilts

#: all stages except ObsCore (see test_obscore); STILTS supports UUC from 3.5
STAGES = "TMV TME TMS TMC UUC CPV CAP AVV QGE QPO QAS UWS MDQ UPL EXA"


def test_taplint_has_no_errors(tap_url: str) -> None:
    known = run_stilts("taplint", "help=stages").stdout.decode()
    stages = [stage for stage in STAGES.split() if f"{stage}:" in known]
    assert set(STAGES.split()) - set(stages) <= {"UUC"}
    report = run_stilts("taplint", f"tapurl={tap_url}", f"stages={' '.join(stages)}", "report=EWSF").stdout.decode()
    assert re.findall(r"^E-.*$", report, re.MULTILINE) == []
    [totals] = re.findall(r"^Totals: Errors: (\d+);.*Failures: (\d+)", report, re.MULTILINE)
    assert totals == ("0", "0"), report
    for stage in stages:
        assert f"Section {stage}" in report


@pytest.mark.parametrize("sync", ["true", "false"])
def test_tapquery(tap_url: str, sync: str) -> None:
    """A cone of one degree around the Pleiades."""
    query = "SELECT * FROM tycho2.bright WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE(56.75, 24.12, 1))"
    result = run_stilts("tapquery", f"sync={sync}", f"tapurl={tap_url}", f"adql={query}", "ofmt=votable")
    assert result.returncode == 0, result.stderr.decode()
    assert len(parse_single_table(io.BytesIO(result.stdout)).array) > 20


@pytest.mark.parametrize("sync", ["true", "false"])
def test_tapquery_shows_our_message(tap_url: str, sync: str) -> None:
    result = run_stilts("tapquery", f"sync={sync}", f"tapurl={tap_url}", "adql=SELECT nothing FROM tycho2.bright")
    assert result.returncode != 0
    assert "nothing" in result.stderr.decode()


def test_tapresume(tap_url: str) -> None:
    """A job that another client has created, which TOPCAT resumes."""
    query = {"LANG": "ADQL", "QUERY": "SELECT TOP 3 ra FROM tycho2.bright", "PHASE": "RUN"}
    job = httpx.post(f"{tap_url}/async", data=query).headers["location"]
    result = run_stilts("tapresume", f"joburl={job}", "delete=finished", "ofmt=votable")
    assert result.returncode == 0, result.stderr.decode()
    assert len(parse_single_table(io.BytesIO(result.stdout)).array) == 3
    assert httpx.get(job).status_code == 404
