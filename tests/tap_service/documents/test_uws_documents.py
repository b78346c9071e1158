"""Jobs, read by pyvo, and rules of UWS 1.1 beyond its schema."""

from __future__ import annotations

import io
import xml.etree.ElementTree as ET
from dataclasses import replace

from pyvo.io import uws

from tap_service.documents.uws_documents import job_document, job_list
from tap_service.models.uws_job import JobReference
from tap_service.models.work_class import Estimate, ResultRows
from tests.tap_service.async_client import HREF, NIL, UWS
from tests.tap_service.documents.described_service import PENDING


def test_pyvo_reads_a_job(made):
    job = uws.parse_job(io.BytesIO(made["job-completed"]).read)
    assert (job.jobid, job.runid, job.ownerid, job.phase) == ("0b", "run <1>", "kepler & co", "COMPLETED")
    assert [(each.id_, each.content) for each in job.parameters] == [
        ("QUERY", "SELECT '<\N{REPLACEMENT CHARACTER}>'"),
        ("UPLOAD", "a,b"),
        ("UPLOAD", "c,d"),
        ("MAXREC", ""),
    ]
    [result] = job.results
    assert (result.id_, result.href) == ("result", "https://example.org/prefix/tap/async/0b/results/result")
    assert job.starttime.isot == "2026-11-21T02:30:15.040"
    assert job.jobinfo["work"]["rowsRead"].value == 10**12
    assert job.jobinfo["work"]["note"].value == "line <1>\n& line 2"
    failed = uws.parse_job(io.BytesIO(made["job-failed"]).read)
    assert failed.errorsummary.message.content == "no <column> \N{REPLACEMENT CHARACTER}"


def test_unknown_values_are_nil(made):
    job = ET.fromstring(made["job-pending"])
    assert [part.tag.removeprefix(UWS) for part in job if part.get(NIL) == "true"] == [
        "ownerId",
        "quote",
        "startTime",
        "endTime",
    ]
    assert job.findtext(UWS + "creationTime") == "2026-11-21T02:30:15.040Z"
    assert {job.get("version"), ET.fromstring(made["jobs"]).get("version")} == {"1.1"}


def test_job_info_has_one_child(made):
    """CADC's clients cannot read a jobInfo with several children, or with text next to them."""
    info = ET.fromstring(made["job-completed"]).find(UWS + "jobInfo")
    assert (info.text or "").strip() == ""
    [work] = info
    assert work.tag == "work"
    assert {part.tag: part.text for part in work} == {
        "note": "line <1>\n& line 2",
        "rowsRead": "1000000000000",
        "percent": "100",
        "seconds": "0.25",
        "plan": "a <b> & c",
    }
    assert ET.fromstring(made["job-pending"]).find(UWS + "jobInfo") is None


def test_row_limit_warning_before_the_run_and_after_a_cut():
    """The warning disappears if the result is complete."""
    foreseen = Estimate(7, 56, 0.1, "scan", ResultRows(7, "about"), "it will cut")
    queued = replace(PENDING, foreseen=foreseen)
    whole, cut = ({"queryStatus": "OK"}, {"queryStatus": "OVERFLOW", "warning": "it has cut"})

    def read_info(job):
        work = ET.fromstring(job_document(job, "http://localhost/tap/async/0a")).find(f"{UWS}jobInfo/work")
        assert (work.findtext("resultRowsForeseen"), work.findtext("resultRowsPrecision")) == ("7", "about")
        return work.findtext("warning")

    assert [read_info(job) for job in (queued, replace(queued, info=whole), replace(queued, info=cut))] == [
        "it will cut",
        None,
        "it has cut",
    ]


def test_pyvo_reads_a_list(made):
    jobs = uws.parse_job_list(io.BytesIO(made["jobs"]).read)
    assert [(job.jobid, job.phase, job.ownerid) for job in jobs] == [
        ("0a", "PENDING", None),
        ("0b", "COMPLETED", "kepler & co"),
        ("0c", "ERROR", "kepler & co"),
    ]
    assert next(each.get(HREF) for each in ET.fromstring(made["jobs"])) == "https://example.org/prefix/tap/async/0a"


def test_a_long_list_is_written_lazily():
    reference = JobReference("0a", PENDING.phase, "", None, PENDING.creation_time)
    pieces = list(job_list((reference for _ in range(5000)), "http://localhost/tap/async"))
    assert max(map(len, pieces)) < 200_000
    assert len(ET.fromstring(b"".join(pieces))) == 5000
