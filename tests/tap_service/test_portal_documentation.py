"""docs/portal.md is correct: its commands run unchanged, and the names in it exist."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

from tests.support.environment import ROOT
from tests.support.running_service import RunningService

TEXT = (ROOT / "docs" / "portal.md").read_text()


def names(told: Any) -> set[str]:
    """All keys of a JSON document."""
    if isinstance(told, dict):
        return set(told).union(*map(names, told.values()))
    return set().union(*map(names, told)) if isinstance(told, list) else set()


def test_the_commands_run_and_their_answers_are_told(service: RunningService, tmp_path: Path) -> None:
    commands = re.findall(r"```sh\n(.*?)```", TEXT, re.DOTALL)
    answers = []
    for command in commands:
        run = subprocess.run(
            ["bash", "-c", command],
            cwd=tmp_path,
            env=os.environ | {"TAP": service.tap},
            capture_output=True,
            timeout=60,
        )
        assert run.returncode == 0, run.stderr
        answers.append(json.loads(run.stdout))
    cost, errors, density, matches, found = answers
    assert {each["main_name"] for each in found["objects"]} <= {"NGC0224"}  # whatever the tables are
    assert matches == {"matches": []}
    assert cost["tables"] == ["svc.stars"]
    assert density["rows"] == 360 * 179
    for answer in (cost, density):
        for name in names(answer):
            assert f"`{name}`" in TEXT, name
    (shown,) = map(json.loads, re.findall(r"```json\n(.*?)```", TEXT, re.DOTALL))
    assert errors == shown
