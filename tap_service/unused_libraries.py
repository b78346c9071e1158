"""Leave out, in a process of Skyhouse, what libraries start for others: it takes as long as all of a short command."""

from __future__ import annotations

import os
import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType


class _NoPandas(MetaPathFinder, Loader):
    """Refuses to import pandas. It can still be found, as astropy asks; finders may not raise."""

    def find_spec(self, name: str, *_: object) -> ModuleSpec | None:
        return ModuleSpec(name, self) if name == "pandas" else None

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        raise ModuleNotFoundError("Skyhouse uses no pandas", name=spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Nothing comes so far."""


def leave_out_unused_libraries() -> None:
    """Hide pandas, and have OpenBLAS start no threads for numpy, here and in processes that this one starts.

    What was imported before stays as it is. Arrow imports pandas at its first array, to know its objects, in 0.3 s of
    processor time; the threads take 0.1 s.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    sys.meta_path.insert(0, _NoPandas())
