"""Runs modules of the portal that need no browser, in Node."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.support.environment import ROOT

_SOURCES = ROOT / "web" / "src"
#: modules of the portal name others without their extension, which the build adds
_RESOLVE = (
    "data:text/javascript,import { registerHooks } from 'node:module';"
    "const find = (name, next) => { try { return next(name + '.ts'); } catch { return next(name + '/index.ts'); } };"
    "registerHooks({ resolve: (name, context, next) => name.startsWith('.') && !name.endsWith('.ts')"
    " ? find(name, (file) => next(file, context)) : next(name, context) });"
)
_READ = "import { readFileSync } from 'node:fs';\nconst asked = JSON.parse(readFileSync(0, 'utf8'));\n"


def run_module(script: str, asked: dict[str, Any]) -> Any:
    """Return what a script writes as JSON. ``SRC`` in it is the folder of the sources, ``asked`` the given values."""
    node = Path(sys.executable).with_name("node")
    ran = subprocess.run(
        [node, "--import", _RESOLVE, "--input-type=module", "-e", _READ + script.replace("SRC", _SOURCES.as_uri())],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)
