"""Find the rows that a query of one table reads by the engine's own analysis of its indexes: EXPLAIN, about 3 ms.

Unlike the density table, the analysis takes into account years, sort keys other than the position, and indexes of other
columns. (The table function mergeTreeAnalyzeIndexes and EXPLAIN ESTIMATE ignore projections of row offsets.)
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

from adql import Translation
from tap_service.storage.engine.engine import Engine, EngineError

#: longer SQL takes the engine longer to plan; it comes from covers, whose rows the density table counts
_MAX_ANALYSED_SQL = 1 << 15

#: the node of a plan that takes a count from a text index, without reading rows
_COUNTED = "ReadFromTextIndexCount"


def find_part_read(engine: Engine, translation: Translation) -> float | None:
    """Return the fraction of a table's rows that a query reads.

    Parameters
    ----------
    engine : Engine
        The engine.
    translation : Translation
        A query of one table.

    Returns
    -------
    float or None
        The fraction, from 0 to 1; None if the engine does not tell.
    """
    if len(translation.sql) > _MAX_ANALYSED_SQL:
        return None
    try:
        lines = engine.fetch_table(
            f"EXPLAIN PLAN indexes = 1, projections = 1, json = 1 {translation.sql}", translation.settings
        )
    except EngineError:
        return None  # for example, a constant cannot be computed: the query will fail too
    text = "\n".join(lines.column(0).to_pylist()) if lines.num_columns else ""
    nodes = [*_walk_nodes(json.loads(text)[0]["Plan"])] if text else []
    if any(node["Node Type"] == _COUNTED for node in nodes):
        return 0.0
    readings = [node for node in nodes if "Indexes" in node]
    return _find_part(readings[0]) if len(readings) == 1 else None


def _walk_nodes(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for child in node.get("Plans", ()):
        yield from _walk_nodes(child)


def _find_part(reading: dict[str, Any]) -> float | None:
    """Return the fraction of a reading, in which each index selects from the granules that earlier indexes selected."""
    indexes = reading["Indexes"]
    granules, selected = indexes[0].get("Initial Granules"), indexes[-1].get("Selected Granules")
    if not granules or selected is None:
        return None
    rows = min(
        (projection.get("Selected Rows", math.inf) for projection in reading.get("Projections", ())), default=None
    )
    if rows is not None:
        # rows are scattered: of n granules, k rows hit n (1 - exp(-k / n))
        selected = min(selected, -granules * math.expm1(-rows / granules))
    return float(selected / granules)
