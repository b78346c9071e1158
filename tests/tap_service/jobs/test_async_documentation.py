"""docs/async.md is correct: its commands run unchanged, and the names in it exist."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import httpx
import pytest

from tap_service.config import Config
from tests.support.environment import ROOT
from tests.support.running_service import RunningService
from tests.tap_service.async_client import create_job
from tests.tap_service.users import User

TEXT = (ROOT / "docs" / "async.md").read_text()


def test_the_commands_run(own: RunningService, tmp_path: Path) -> None:
    script = "set -euo pipefail\n" + "\n".join(re.findall(r"```sh\n(.*?)```", TEXT, re.DOTALL))
    run = subprocess.run(
        ["bash", "-c", script],
        cwd=tmp_path,
        env=os.environ | {"TAP": own.tap, "WHO": ":".join(User(own, "alice").auth)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    lines = (tmp_path / "result.csv").read_text().split()
    assert lines[0] == "table_name"
    assert "TAP_SCHEMA.tables" in lines
    assert "<uws:phase>COMPLETED</uws:phase>" in run.stdout
    assert '["TAP_SCHEMA.columns"]' in run.stdout
    assert "TAP_SCHEMA.tables" in (tmp_path / "names.txt").read_text().split()
    assert "the job has no error: it is COMPLETED" in run.stdout


def test_the_lines_of_python_run(service: RunningService) -> None:
    [lines] = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    assert lines.count("\n") == 5
    found = {"httpx": httpx, "tap": service.tap, "query": "SELECT n, word FROM svc.numbers WHERE n < 3 ORDER BY n"}
    exec(lines, found)
    assert found["first"] == found["rows"] == [[0, "row 0"], [1, "row 1"], [2, "row 2"]]
    found["client"].close()


def test_a_job_that_fails_says_why_where_the_page_says(service: RunningService) -> None:
    [lines] = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    found = {"httpx": httpx, "tap": service.tap, "query": "SELECT nothing FROM svc.numbers"}
    with pytest.raises(IndexError):  # there is no result
        exec(lines, found)
    [expression] = re.findall(r"the reason is in `(.*?)`", TEXT)
    assert found["job"]["phase"] == "ERROR"
    assert "nothing" in eval(expression, found)
    found["client"].close()


def test_every_element_of_job_info_is_documented(service: RunningService) -> None:
    job = create_job(service.tap, "SELECT COUNT(*) AS c FROM svc.numbers AS a", PHASE="RUN")
    job.wait_for_end()
    told = {name for line in re.findall(r"^\| (`.*?) \|", TEXT, re.MULTILINE) for name in re.findall(r"`(\w+)`", line)}
    assert set(job.info) <= told
    assert {"percent", "rowsExpected"} <= told


def test_every_setting_is_one() -> None:
    named = {name.lower() for name in re.findall(r"`SKYHOUSE_(\w+)`", TEXT)}
    assert named <= set(Config.model_fields)
