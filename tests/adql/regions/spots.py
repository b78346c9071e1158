"""The positions of the table ``spots``."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Select = Callable[[str], NDArray[np.int64]]
