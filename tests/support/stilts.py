"""STILTS, on which TOPCAT is based, as a program that runs for a second."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

#: One compiler and no garbage collector threads: taplint takes 2.1 s of processor time instead of 4.0, tcopy 0.35
#: instead
#: of 0.5. By default, Java uses the home folder of the system's user, and writes figures of each process into /tmp.
_JVM_OPTIONS = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData")


def run_stilts(*arguments: str, properties: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[bytes]:
    """Run a task of STILTS; ``properties`` are Java's."""
    command = shutil.which("stilts")
    assert command, "these tests need STILTS: install the package stilts of the system"
    folders = {"user.home": str(Path.home()), "java.io.tmpdir": tempfile.gettempdir()}
    defined = [f"-D{name}={value}" for name, value in (folders | dict(properties or {})).items()]
    return subprocess.run([command, *_JVM_OPTIONS, *defined, *arguments], capture_output=True, timeout=100, check=False)


def read_output(*arguments: str) -> bytes:
    """Return the output of a task, which must succeed."""
    run = run_stilts(*arguments)
    assert run.returncode == 0, (run.stderr + run.stdout).decode()
    return run.stdout


def validate_document(path: Path, schemas: Mapping[str, Path] | None = None) -> None:
    """Check a document against the schemas of STILTS, and other schemas: files by namespace."""
    locations = [f"schemaloc={namespace}={file}" for namespace, file in (schemas or {}).items()]
    run = run_stilts("xsdvalidate", f"doc={path}", "uselocals=true", "verbose=true", *locations)
    said = (run.stdout + run.stderr).decode()
    assert run.returncode == 0, said
    assert "Validation OK" in said
