"""The running service with the pyvo and astropy of Debian 12."""

from __future__ import annotations

import subprocess

from tests.conformance import old_pyvo
from tests.tap_service.serializers.test_old_astropy import PYTHON, pytestmark  # noqa: F401 - skips where there is none


def test_an_old_pyvo_reads_all_answers(tap_url: str) -> None:
    """Results, uploads, jobs, cone searches, links and errors."""
    run = subprocess.run([PYTHON, old_pyvo.__file__, tap_url], capture_output=True, text=True, timeout=100, check=False)
    assert run.returncode == 0, run.stderr
