"""The scripts, notebooks and commands written by the portal run and return the rows of the query."""

from __future__ import annotations

import base64
import json
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tap_service.config import Config
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tests.support.running_service import RunningService, running_service
from tests.web.portal_modules import run_module

_SCRIPT = """
import { bibtex, notebook, pythonScript, pythonText, stiltsCommand } from 'SRC/results/queryScripts.ts';
console.log(JSON.stringify({
    python: pythonScript(asked), notebook: notebook(asked), bibtex: bibtex(asked),
    stilts: stiltsCommand(asked) ?? null, texts: (asked.texts ?? []).map(pythonText),
}));
"""
_HOSTILE = ['it\'s "quoted"', 'ends with "', "back\\slash\\", 'three """ in a\nline"', "\u00e9\U0001f600\0\r\n"]
_QUERY = (
    "SELECT TOP 3 tyc_id, ra, vt_mag -- it's \"bright\"\nFROM tycho2.bright\nWHERE origin <> 'a\\b' ORDER BY vt_mag"
)


@pytest.fixture(scope="module")
def service(demo_engine: EmbeddedEngine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    with running_service(Config(query_log="", jobs_path=tmp_path_factory.mktemp("scripts")), demo_engine) as service:
        yield service


def write(service: RunningService, **changes: Any) -> Any:
    asked = {
        **{"tap": service.tap, "service": "Sky & house", "query": _QUERY, "isJob": False, "uploads": {}, "share": ""},
        **{"citations": ["2000A&A...355L..27H", "OpenNGC, 100% free"], "date": "2026-11-24T12:00:00Z"},
    }
    return run_module(_SCRIPT, asked | changes)


def run_python(code: str, folder: Path) -> str:
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], cwd=folder, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@pytest.mark.parametrize("is_job", [False, True])
def test_the_python_script_gives_the_rows(service: RunningService, tmp_path: Path, is_job: bool) -> None:
    printed = run_python(write(service, isJob=is_job, maxrec=2)["python"], tmp_path)
    assert "5949-2777-1" in printed
    assert len(printed.strip().splitlines()) == 3 + 2


def test_uploads_are_in_the_script(service: RunningService, tmp_path: Path) -> None:
    table = base64.b64encode(
        b"<VOTABLE version='1.4' xmlns='http://www.ivoa.net/xml/VOTable/v1.3'><RESOURCE><TABLE>"
        b"<FIELD name='x' datatype='int'/><DATA><TABLEDATA><TR><TD>41</TD></TR></TABLEDATA></DATA></TABLE></RESOURCE></VOTABLE>"
    ).decode()
    written = write(service, query="SELECT x + 1 AS y FROM TAP_UPLOAD.mine", uploads={"mine": table})
    assert "42" in run_python(written["python"], tmp_path)
    assert written["stilts"] is None


def test_the_notebook_has_cells_that_run(service: RunningService, tmp_path: Path) -> None:
    notebook = json.loads(write(service)["notebook"])
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert [cell["cell_type"] for cell in notebook["cells"]] == ["markdown", "code", "code", "code"]
    assert len({cell["id"] for cell in notebook["cells"]}) == 4
    *before, plot = ["".join(cell["source"]) for cell in notebook["cells"][1:]]
    compile(plot, "plot", "exec")
    assert "5949-2777-1" in run_python("\n".join([*before, "print(rows)"]), tmp_path)


def test_the_command_of_stilts_runs(service: RunningService, tmp_path: Path) -> None:
    command = write(service)["stilts"].replace("\\\n", " ")
    subprocess.run([*shlex.split(command)], cwd=tmp_path, check=True, capture_output=True)
    assert "5949-2777-1" in (tmp_path / "result.vot").read_text()


def test_references_escape_what_tex_would_read(service: RunningService) -> None:
    written = write(service)["bibtex"]
    assert "https://ui.adsabs.harvard.edu/abs/2000A%26A...355L..27H" in written
    assert r"OpenNGC, 100\% free" in written
    assert r"Query of Sky \& house" in written
    assert written.count("@misc{") == 3


def test_the_permanent_address_is_cited(service: RunningService, tmp_path: Path) -> None:
    address = f"{service.tap}/shares/abc"
    written = write(service, share=address)
    assert f"# Cite {address}\n# Cite 2000A&A...355L..27H" in written["python"]
    assert "5949-2777-1" in run_python(written["python"], tmp_path)
    assert f"url = {{{address}}}" in written["bibtex"]
    assert f"Cite <{address}>" in "".join(json.loads(written["notebook"])["cells"][0]["source"])


def test_texts_are_python_literals(service: RunningService) -> None:
    for text, literal in zip(_HOSTILE, write(service, texts=_HOSTILE)["texts"], strict=True):
        assert eval(literal) == text
