"""pytest plugin: the slowest file starts first, so that the workers end together; the slowest files are listed at the
end.

``durations.json`` has seconds by file, stored by ``make durations``. A new file is treated as slow.
"""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import pytest

FILE = Path(__file__).with_suffix(".json")

_UNKNOWN_SECONDS = 30.0
_TOLD = 20

#: seconds by file, in the process that receives all reports
_measured: defaultdict[str, float] = defaultdict(float)


def read_durations() -> dict[str, float]:
    """Return seconds by file; files by their path from the checkout, with slashes."""
    seconds: dict[str, float] = json.loads(FILE.read_text()) if FILE.exists() else {}
    return seconds


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--keep-durations", action="store_true", help=f"write how long each file took into {FILE.name}")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    seconds = read_durations()
    items.sort(key=lambda item: -seconds.get(_name_file(item.nodeid), _UNKNOWN_SECONDS))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    _measured[_name_file(report.nodeid)] += report.duration


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if hasattr(config, "workerinput"):
        return
    longest = sorted(_measured.items(), key=lambda each: -each[1])
    if len(longest) > 1:
        terminalreporter.section(f"the {min(_TOLD, len(longest))} files that took longest")
        for name, seconds in longest[:_TOLD]:
            terminalreporter.write_line(f"{seconds:7.1f}s {name}")
    if config.getoption("--keep-durations"):
        kept = {name: round(seconds, 1) for name, seconds in sorted(_measured.items())}
        FILE.write_text(json.dumps(kept, indent=0) + "\n")


def _name_file(nodeid: str) -> str:
    return nodeid.split("::")[0]
