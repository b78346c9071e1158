"""``skyhouse`` as its users start it."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from tests.support.environment import make_environment
from tests.support.ports import free_port

_SKYHOUSE = (sys.executable, "-c", "from loaders.cli.skyhouse_command import main; main()")


def run_skyhouse(*arguments: str) -> None:
    subprocess.run([*_SKYHOUSE, *arguments], check=True, timeout=100)


@contextmanager
def running_skyhouse(command: str, data: Path) -> Iterator[str]:
    """Yield the URL of ``skyhouse serve`` or ``skyhouse demo``, on a free port."""
    port = free_port()
    options = [command, "--data", str(data), "--port", str(port)]
    with (data / "output").open("w") as output:
        process = subprocess.Popen(
            [*_SKYHOUSE, *options], cwd=data, env=make_environment(data), stdout=output, stderr=subprocess.STDOUT
        )
    try:
        url = f"http://127.0.0.1:{port}/tap"
        while not _answers(url):
            assert process.poll() is None, (data / "output").read_text()
            time.sleep(0.1)
        yield url
    finally:
        process.terminate()
        process.wait()


def _answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/availability").is_success
    except httpx.TransportError:
        return False
