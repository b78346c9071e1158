"""docs/user-tables.md is correct: its commands and its Python run unchanged, and the names in it exist."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

from tap_service.config import Config
from tests.support.environment import ROOT
from tests.support.running_service import RunningService
from tests.tap_service.users import temporary_user

TEXT = (ROOT / "docs" / "user-tables.md").read_text()


def test_the_commands_and_the_code_run(own: RunningService, tmp_path: Path) -> None:
    with temporary_user(own, "alice") as alice:
        script = "set -euo pipefail\n" + "\n".join(re.findall(r"```sh\n(.*?)```", TEXT, re.DOTALL))
        run = subprocess.run(
            ["bash", "-c", script],
            cwd=tmp_path,
            env=os.environ | {"TAP": own.tap, "WHO": ":".join(alice.auth)},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert run.returncode == 0, run.stderr
        assert "1,Alcyone" in run.stdout
        assert "loaded 1 rows into mydb.stars, which now has 3" in run.stdout
        assert "loaded 2 rows into mydb.stars, which now has 2" in run.stdout
        assert run.stdout.count("<uws:phase>COMPLETED<") == 3
        # answers in JSON have no final line end
        documents = next(line for line in run.stdout.splitlines() if line.startswith("{"))
        told, end = json.JSONDecoder().raw_decode(documents)
        assert documents[end:].endswith('{"table":"mydb.stars","users":[],"groups":["lens"]}')
        assert [(table["name"], table["rows"]) for table in told["tables"]] == [
            ("mydb.brightest", 1),
            ("mydb.stars", 2),
        ]
        assert set(alice.tables) == {"mydb.stars"}
        for name in {*told, *told["used"], *told["tables"][0]} - {"days"}:
            assert f"`{name}`" in TEXT, name
        code = "\n".join(re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL))
        name, password = alice.auth
        exec(code, {"name": name, "password": password, "tap": own.tap})
        assert set(alice.tables) == {"mydb.stars"}


def test_every_setting_is_one() -> None:
    named = {name.lower() for name in re.findall(r"`SKYHOUSE_(\w+)`", TEXT)}
    assert named <= set(Config.model_fields)
    assert {name for name in Config.model_fields if name.startswith("user_table")} <= named
