"""Validate every document against the IVOA's XML schemas with STILTS."""

from __future__ import annotations

import subprocess

import pytest

VOSI = ("availability", "capabilities", "tables", "tables-min", "tables/survey.stars")
JOBS = ("job-pending", "job-completed", "job-failed", "jobs", "results", "parameters")


@pytest.mark.parametrize("name", [*VOSI, *JOBS])
def test_document_is_valid(made, tmp_path, name):
    path = tmp_path / "document.xml"
    path.write_bytes(made[name])
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
