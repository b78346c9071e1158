"""A stand-in for matplotlib that records what scripts draw."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any
from unittest.mock import patch

import numpy as np

#: the name of a method, its arguments, and its options
Call = tuple[str, tuple[Any, ...], dict[str, Any]]


class Recorder:
    """A figure, axes or any other object of matplotlib; each method call is recorded in ``calls``."""

    def __init__(self, calls: list[Call], name: str = "") -> None:
        self._calls = calls
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Recorder(self._calls, name)

    def __call__(self, *given: Any, **options: Any) -> Any:
        self._calls.append((self._name, given, options))
        drawn = Recorder(self._calls)
        if self._name == "hist2d":
            return None, None, None, drawn
        if self._name == "subplots" and given:
            panels = np.empty(given, dtype=object)
            panels.flat[:] = [Recorder(self._calls) for _ in range(panels.size)]
            return drawn, panels
        return (drawn, drawn) if self._name == "subplots" else drawn


@contextmanager
def recorded_matplotlib() -> Iterator[list[Call]]:
    """Make programs import recorders as matplotlib. Yield the calls."""
    calls: list[Call] = []
    modules: dict[str, Any] = {"matplotlib": ModuleType("matplotlib")}
    # astropy asks for it
    modules["matplotlib"].__spec__ = ModuleSpec("matplotlib", None)
    for name, exported in {"pyplot": (), "colors": ("LinearSegmentedColormap", "LogNorm")}.items():
        modules[f"matplotlib.{name}"] = Recorder(calls)
        setattr(modules["matplotlib"], name, modules[f"matplotlib.{name}"])
        for one in exported:
            setattr(modules[f"matplotlib.{name}"], one, Recorder(calls, one))
    with patch.dict(sys.modules, modules):
        yield calls


def has_matplotlib() -> bool:
    return importlib.util.find_spec("matplotlib") is not None


def run_script(path: str) -> None:
    """Run a script with matplotlib if it is installed, otherwise with recorders."""
    with open(path, encoding="utf-8") as file:
        code = compile(file.read(), path, "exec")
    scope = {"__name__": "__main__"}
    if has_matplotlib():
        exec(code, scope)
    else:
        with recorded_matplotlib():
            exec(code, scope)


if __name__ == "__main__":
    run_script(sys.argv[1])
