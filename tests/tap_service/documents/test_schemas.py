"""Validate every document against the IVOA's XML schemas with STILTS."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from lxml import etree

from tap_service.documents.capabilities_document import capabilities_document
from tap_service.documents.service_description import Limit
from tests.support.stilts import validate_document
from tests.tap_service.documents.described_service import describe_service

SCHEMAS = Path(__file__).parents[2] / "schemas"
TAPREGEXT = "http://www.ivoa.net/xml/TAPRegExt/v1.0"
VOSI = ("availability", "capabilities", "tables", "tables-min", "tables/survey.stars")
JOBS = ("job-pending", "job-completed", "job-failed", "jobs", "results", "parameters")


@pytest.mark.parametrize("name", [*VOSI, *JOBS])
def test_document_is_valid(made, tmp_path, name):
    validate(made[name], tmp_path / "document.xml")


def test_limits_of_each_mode_and_of_both(tmp_path):
    """Validate the whole document as TAPRegExt 1.1 requires (section 2.3); STILTS has the schema of 1.0."""
    limits = {"sync_duration": Limit(10, 10), "job_output_limit": Limit(20, 3000)}
    described = replace(describe_service("https://example.org/tap"), has_mode_limits=True, **limits)
    document = capabilities_document(described)
    validate(document, tmp_path / "document.xml", {TAPREGEXT: SCHEMAS / "TAPRegExt-1.1.xsd"})
    [access] = [each for each in etree.fromstring(document) if each.find("language") is not None]
    found = {
        (name, limit.get("forMode")): limit.findtext("default")
        for name in ("executionDuration", "outputLimit")
        for limit in access.findall(name)
    }
    assert found == {
        ("executionDuration", None): "600",
        ("executionDuration", "sync"): "10",
        ("outputLimit", None): "20000",
        ("outputLimit", "async"): "20",
    }


def validate(document, path, schemas=None):
    path.write_bytes(document)
    validate_document(path, schemas)
