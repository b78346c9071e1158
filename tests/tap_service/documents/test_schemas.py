"""Validate every document against the IVOA's XML schemas with STILTS."""

from __future__ import annotations

import subprocess
from dataclasses import replace

import pytest
from lxml import etree

from tap_service.documents.capabilities_document import capabilities_document
from tap_service.documents.service_description import Limit
from tests.tap_service.documents.conftest import describe_service

VOSI = ("availability", "capabilities", "tables", "tables-min", "tables/survey.stars")
JOBS = ("job-pending", "job-completed", "job-failed", "jobs", "results", "parameters")


@pytest.mark.parametrize("name", [*VOSI, *JOBS])
def test_document_is_valid(made, tmp_path, name):
    validate(made[name], tmp_path / "document.xml")


def test_limits_of_each_mode_override_those_of_both(tmp_path):
    """TAPRegExt 1.1, section 2.3: for one mode, the document is one of TAPRegExt 1.0."""
    limits = {"sync_duration": Limit(10, 10), "job_output_limit": Limit(20, 3000)}
    described = replace(describe_service("https://example.org/tap"), has_mode_limits=True, **limits)
    found = {}
    for mode in ("sync", "async"):
        document = etree.fromstring(capabilities_document(described))
        [access] = [each for each in document if each.find("language") is not None]
        for limit in [each for each in access if each.get("forMode")]:
            [both] = [each for each in access.findall(limit.tag) if not each.get("forMode")]
            access.remove(both if limit.get("forMode") == mode else limit)
        for limit in access:
            limit.attrib.pop("forMode", None)
        validate(etree.tostring(document), tmp_path / f"{mode}.xml")
        found[mode] = [access.findtext(f"{name}/default") for name in ("executionDuration", "outputLimit")]
    assert found == {"sync": ["10", "20000"], "async": ["600", "20"]}


def validate(document, path):
    path.write_bytes(document)
    run = subprocess.run(
        ["stilts", "xsdvalidate", f"doc={path}", "uselocals=true", "verbose=true"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    said = run.stdout + run.stderr
    assert run.returncode == 0, said
    assert "Validation OK" in said
