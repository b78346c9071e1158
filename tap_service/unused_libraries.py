"""Leave out, in a process of Skyhouse, what libraries start for others: it takes as long as all of a short command."""

from __future__ import annotations

import os
import sys
from importlib.abc import MetaPathFinder


class _NoPandas(MetaPathFinder):
    """Hides pandas, which Arrow imports at its first array, to know its objects, in 0.3 s of processor time."""

    def find_spec(self, name: str, *_: object) -> None:
        if name == "pandas":
            raise ModuleNotFoundError("Skyhouse uses no pandas", name=name)


def leave_out_unused_libraries() -> None:
    """Hide pandas, and have OpenBLAS start no threads for numpy (0.1 s). Call it before numpy is imported."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    sys.meta_path.insert(0, _NoPandas())
