"""Run modules of the portal that need no browser in Node."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.support.environment import ROOT

_SOURCES = ROOT / "web" / "src"
#: modules of the portal import others without the extension, which the build adds
_RESOLVE = (
    "data:text/javascript,import { registerHooks } from 'node:module';"
    "const find = (name, next) => { try { return next(name + '.ts'); } catch { return next(name + '/index.ts'); } };"
    "registerHooks({ resolve: (name, context, next) => name.startsWith('.') && !name.endsWith('.ts')"
    " ? find(name, (file) => next(file, context)) : next(name, context) });"
)
_READ = "import { readFileSync } from 'node:fs';\nconst asked = JSON.parse(readFileSync(0, 'utf8'));\n"


#: Vite's loader also resolves components and files that are imported as text
_LOAD = """
const { createServer } = await import('vite');
const server = await createServer({
    ...{ configFile: 'vite.config.ts', appType: 'custom', logLevel: 'error', optimizeDeps: { noDiscovery: true } },
    server: { middlewareMode: true, hmr: false, ws: false, watch: null },
});
const load = (path) => server.ssrLoadModule(`/src/${path}`);
"""


def run_with_vite(script: str, asked: Any) -> Any:
    """Return what a script writes as JSON, like ``run_module``; ``load(path)`` imports any module of the sources.

    A call takes some seconds, so ask for several values in one call.
    """
    return _run_node(["-e", _READ + _LOAD + script + "\nawait server.close();"], asked)


def run_module(script: str, asked: dict[str, Any]) -> Any:
    """Return what a script writes as JSON.

    ``SRC`` in it is the folder of the sources; ``asked`` is the given value.
    """
    return _run_node(["--import", _RESOLVE, "-e", _READ + script.replace("SRC", _SOURCES.as_uri())], asked)


def _run_node(options: list[str], asked: Any) -> Any:
    node = Path(sys.executable).with_name("node")
    ran = subprocess.run(
        [node, "--input-type=module", *options],
        cwd=_SOURCES.parent,
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)
