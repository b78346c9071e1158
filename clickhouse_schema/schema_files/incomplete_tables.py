"""Tables that take columns from a missing file: a plan leaves them out and reports them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from clickhouse_schema.schema_files.column_refs import IncompleteTable
from clickhouse_schema.schema_problem import Problem

_MAX_NAMES = 5


def drop_last_tables(data: dict[str, Any], incomplete: Sequence[IncompleteTable]) -> dict[str, Any]:
    """Return the data without the incomplete tables, which are the last tables."""
    count = len({table.table_path for table in incomplete})
    return data | {"tables": data["tables"][:-count]} if count else data


def find_missing_resources(incomplete: Sequence[IncompleteTable]) -> Iterator[Problem]:
    """Yield one problem for each missing file, with the tables that lack its columns."""
    for (path, uri), found in groupby(sorted(incomplete, key=_get_resource), _get_resource):
        tables = [*found]
        columns = sum(len(table.columns) for table in tables)
        names = [table.name for table in tables]
        more = f" and {len(names) - _MAX_NAMES:,} more" if len(names) > _MAX_NAMES else ""
        left_out = f"these tables with {columns:,} of its columns are left out: {', '.join(names[:_MAX_NAMES])}{more}"
        yield Problem(path, f"{uri} is missing: copy it to the folder of this file; {left_out}")


def _get_resource(table: IncompleteTable) -> tuple[tuple[str | int, ...], str]:
    return table.path, table.uri
