"""docs/shares.md is correct: its commands run unchanged, and the reader's checksum equals the share's."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

from tap_service.config import Config
from tests.support.environment import ROOT
from tests.support.running_service import RunningService

TEXT = (ROOT / "docs" / "shares.md").read_text()


def test_the_commands_run(service: RunningService, tmp_path: Path) -> None:
    blocks = re.findall(r"```sh\n(.*?)```", TEXT, re.DOTALL)
    [python] = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    (tmp_path / "checksum.py").write_text(python)
    run = subprocess.run(
        ["bash", "-c", "set -euo pipefail\n" + "\n".join([*blocks, "python3 checksum.py"])],
        cwd=tmp_path,
        env=os.environ | {"TAP": service.tap},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    made = json.loads((tmp_path / "share.json").read_text())
    assert made["rows"] > 3
    assert f"{made['checksum']}  -\n{made['checksum']}\n" in run.stdout
    assert '"same":true' in run.stdout
    assert "<title>Tables that describe tables</title>" in run.stdout
    assert (tmp_path / "rows.vot").read_text().startswith("<?xml")
    [example] = re.findall(r"```json\n(.*?)```", TEXT, re.DOTALL)
    documented = json.loads(example)
    assert documented.keys() == made.keys() - {"key"}
    assert documented["result"].keys() == made["result"].keys()
    tables = (next(iter(each["tables"].values())).keys() for each in (documented, made))
    assert next(tables) == next(tables)


def test_every_setting_is_one() -> None:
    named = {name.lower() for name in re.findall(r"`SKYHOUSE_(\w+)`", TEXT)}
    assert named <= set(Config.model_fields)
