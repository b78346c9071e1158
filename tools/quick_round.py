"""The quick round of a developer, in less than 90 s: the checks of what has changed, and the tests nearest to it.

``python -m tools.quick_round [SINCE]``, or ``make quick [SINCE=main]``: what has changed since that commit; without one
what is not committed, or else the last commit. A test is near if few imports lie between it and a changed module.
"""

from __future__ import annotations

import subprocess
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path

import grimp

from tests.support.durations import read_durations

ROOT = Path(__file__).parents[1]
BIN = Path(sys.executable).parent

PACKAGES = ("adql", "clickhouse_schema", "loaders", "tap_service", "workers", "tests", "tools")

#: of all the files together, for two workers
_TEST_SECONDS = 90.0
#: a file that takes longer is no unit test
_FILE_SECONDS = 15.0
_UNKNOWN_SECONDS = 5.0


def main() -> int:
    changed = find_changes(sys.argv[1] if len(sys.argv) > 1 else "")
    chosen, others = choose_tests(changed)
    print(
        f"{len(changed)} changed files; {len(chosen)} test files of {len(chosen) + len(others)} that depend on them",
        flush=True,
    )
    failures = [command for folder, command in list_commands(changed, chosen) if not run(command, ROOT / folder)]
    return 1 if failures else 0


def find_changes(since: str) -> list[str]:
    """Return the changed files that exist, by their paths from the checkout."""
    names = list_files("diff", "--name-only", since or "HEAD") + list_files(
        "ls-files", "--others", "--exclude-standard"
    )
    if not names and not since:
        names = list_files("diff", "--name-only", "HEAD~1")
    return sorted(name for name in set(names) if (ROOT / name).is_file())


def list_files(*words: str) -> list[str]:
    return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()


def list_commands(changed: list[str], chosen: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield each check and the tests as a folder and a command."""
    sources = [name for name in changed if name.endswith(".py")]
    if sources:
        yield "", [f"{BIN}/ruff", "check", *sources]
        yield "", [f"{BIN}/ruff", "format", "--check", *sources]
        yield "", [f"{BIN}/mypy"]
        yield "", [f"{BIN}/lint-imports"]
    if any(name.startswith("web/src/") for name in changed):
        yield "web", ["npm", "run", "check"]
        yield "web", ["npm", "test", "--", "--changed"]
    if any(name.startswith("docs/") for name in changed):
        yield "", [f"{BIN}/mkdocs", "build", "--quiet"]
    if chosen:
        yield "", [sys.executable, "-m", "pytest", "--numprocesses", "2", "--dist", "loadfile", "--quiet", *chosen]


def choose_tests(changed: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return the test files to run, nearest first, and the other ones that depend on the changes."""
    graph = grimp.build_graph(*PACKAGES, cache_dir=None)
    near = measure_distances(graph, {module for name in changed if (module := name_module(name)) in graph.modules})
    seconds = read_durations()
    chosen: list[str] = []
    others: list[str] = []
    total = 0.0
    for _, takes, name in sorted(
        (near[m], seconds.get(f, _UNKNOWN_SECONDS), f) for m in near if (f := name_test_file(m))
    ):
        fits = takes <= _FILE_SECONDS and total + takes <= _TEST_SECONDS
        total += takes if fits else 0.0
        (chosen if fits else others).append(name)
    return chosen, others


def measure_distances(graph: grimp.ImportGraph, begin: set[str]) -> dict[str, int]:
    """Return how many imports lie between each module that depends on the changed ones and the nearest of these."""
    near = dict.fromkeys(begin, 0)
    waiting = deque(begin)
    while waiting:
        module = waiting.popleft()
        for user in list_users(graph, module):
            if user not in near:
                near[user] = near[module] + 1
                waiting.append(user)
    return near


def list_users(graph: grimp.ImportGraph, module: str) -> set[str]:
    """Return the modules that import a module; the files in and below the folder of a conftest use its fixtures."""
    users = set(graph.find_modules_that_directly_import(module))
    if module.endswith(".conftest"):
        users |= graph.find_descendants(module.removesuffix(".conftest"))
    return users


def name_module(path: str) -> str:
    """Return the module of a file; a file that is no source belongs to its package."""
    file = Path(path)
    parts = file.with_suffix("").parts if file.suffix == ".py" else file.parent.parts
    return ".".join(part for part in parts if part != "__init__")


def name_test_file(module: str) -> str:
    """Return the path of a test module, or nothing for another module."""
    path = module.replace(".", "/") + ".py"
    return path if Path(path).name.startswith("test_") else ""


def run(command: list[str], folder: Path) -> bool:
    """Run a command, and return whether it has succeeded; one that a signal has ended has not."""
    has_succeeded = subprocess.run(command, cwd=folder, check=False).returncode == 0
    if not has_succeeded:
        print(f"failed: {' '.join(command)[:200]}", flush=True)
    return has_succeeded


if __name__ == "__main__":
    sys.exit(main())
