"""The environment of the processes that tests, benchmarks and experiments start."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


def make_environment(data: Path, checkout: Path = ROOT, **settings: Any) -> dict[str, str]:
    """Return the environment of a Skyhouse process.

    In a test run it is the run's environment (``tests.support.run_folder``: its own home, no settings of this
    machine), with a data directory and settings.

    Parameters
    ----------
    data
        The data directory, within the test's folder.
    checkout
        The checkout whose code runs.
    settings
        Settings by their names in lower case without their prefix, such as ``query_log=""``.
    """
    path = os.pathsep.join(filter(None, (str(checkout), os.environ.get("PYTHONPATH"))))
    return {**os.environ, "PYTHONPATH": path, "SKYHOUSE_DATA": str(data), **name_settings(settings)}


def name_settings(settings: Mapping[str, Any]) -> dict[str, str]:
    """Return the environment variables of settings."""
    return {f"SKYHOUSE_{name.upper()}": str(value) for name, value in settings.items()}
