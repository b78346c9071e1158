"""Prevent libraries from loading pandas and from starting threads: both together take as long as a short command."""

from __future__ import annotations

import os
import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType


class _NoPandas(MetaPathFinder, Loader):
    """Refuses to import pandas. Its spec is found, because astropy looks for it and finders must not raise."""

    def find_spec(self, name: str, *_: object) -> ModuleSpec | None:
        return ModuleSpec(name, self) if name == "pandas" else None

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        raise ModuleNotFoundError("Skyhouse does not use pandas", name=spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Never called, because ``create_module`` raises."""


def leave_out_unused_libraries() -> None:
    """Hide pandas, and prevent OpenBLAS from starting threads for numpy, in this process and its child processes.

    Modules that are already imported do not change. Arrow would import pandas with its first array, to recognize its
    objects, which takes 0.3 s of processor time; the threads take 0.1 s.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    sys.meta_path.insert(0, _NoPandas())
