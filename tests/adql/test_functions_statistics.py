"""Set functions against numpy and DuckDB: large offsets, NULLs, NaN, ties, groups of one row and empty groups."""

from __future__ import annotations

import math

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from adql.errors import AdqlError
from adql.functions import SET_FUNCTIONS_BY_NAME
from adql.translation import translate
from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.schema_model import Column, Layout, Schema, Table
from tap_service.storage.engine.engine import Engine
from tests.adql.storing import catalogue_of, store
from tests.support.adql_rows import Ask, Rows, query_rows

COUNT = 3000
_TABLE = Table(
    name="samples",
    columns=(
        Column(name="id", datatype="int", nullable=False),
        Column(name="g", datatype="int"),
        Column(name="x", datatype="double"),
        Column(name="y", datatype="double"),
        Column(name="far", datatype="double"),
        Column(name="f", datatype="float"),
        Column(name="n", datatype="long"),
    ),
    layout=Layout(id=("id",)),
)
_NUMBERS = ("x", "far", "f", "n")
_OF_ONE = ("STDDEV", "STDDEV_SAMP", "STDDEV_POP", "VARIANCE", "VAR_SAMP", "VAR_POP", "MEDIAN")
_OF_TWO = ("COVAR_SAMP", "COVAR_POP", "CORR")


@pytest.fixture(scope="module")
def content() -> pa.RecordBatch:
    """Groups 0 to 9 have many rows, 10 one, 11 NULLs, 12 equal values; ``far`` is slightly above a billion."""
    rng = np.random.default_rng(11)
    group = rng.integers(0, 10, COUNT)
    x, noise = rng.normal(0, 1, COUNT), rng.normal(0, 1, COUNT)
    group[:4] = [10, 11, 11, 12]
    group[4:8] = 12
    x[3:8] = 2.5
    missing = rng.random(COUNT) < 0.1
    missing[:8] = [False, True, True, *[False] * 5]
    columns: dict[str, tuple[NDArray[np.generic], NDArray[np.bool_]]] = {
        "id": (np.arange(COUNT), np.zeros(COUNT, bool)),
        "g": (group, np.zeros(COUNT, bool)),
        "x": (x, missing),
        "y": (0.3 * x + noise, rng.random(COUNT) < 0.1),
        "far": (1e9 + x / 1000, missing),
        "f": (x, missing),
        "n": (np.rint(x * 5), missing),
    }
    schema = pa.schema([(c.name, c.type.arrow) for c in _TABLE.columns])
    arrays = [pa.array(columns[f.name][0], f.type, mask=columns[f.name][1]) for f in schema]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


@pytest.fixture(scope="module")
def samples(engine: Engine, content: pa.RecordBatch) -> Catalogue:
    engine.execute("CREATE DATABASE IF NOT EXISTS statistics")
    store(engine, "statistics", _TABLE, [content])
    return catalogue_of(engine, Schema(name="statistics", tables=(_TABLE,)))


@pytest.fixture(scope="module")
def twin(content: pa.RecordBatch) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.register("samples", pa.Table.from_batches([content]))
    return connection


def _assert_close(ours: Rows, theirs: Rows, relative: float = 1e-10) -> None:
    assert len(ours) == len(theirs)
    for one, other in zip(ours, theirs, strict=True):
        for a, b in zip(one, other, strict=True):
            if b is None or a is None:
                assert a == b, (one, other)
            else:
                assert a == pytest.approx(b, rel=relative, abs=1e-12), (one, other)


def _fetch_both(engine: Engine, samples: Catalogue, twin: duckdb.DuckDBPyConnection, query: str) -> tuple[Rows, Rows]:
    return query_rows(engine, samples, query), twin.execute(query).fetchall()


@pytest.mark.parametrize("column", _NUMBERS)
def test_deviations_and_medians_of_groups_match_duckdb(
    column: str, engine: Engine, samples: Catalogue, twin: duckdb.DuckDBPyConnection
) -> None:
    calls = ", ".join(f"{name}({column})" for name in _OF_ONE)
    # near a billion float64 keeps six digits of the deviation; DuckDB's medians of REAL are REAL
    relative = {"far": 2e-4, "f": 1e-6}.get(column, 1e-10)
    for query in (f"SELECT {calls} FROM samples", f"SELECT g, {calls} FROM samples GROUP BY g ORDER BY g"):
        _assert_close(*_fetch_both(engine, samples, twin, query), relative)


def test_statistics_of_pairs_match_duckdb(
    engine: Engine, samples: Catalogue, twin: duckdb.DuckDBPyConnection, content: pa.RecordBatch
) -> None:
    calls = ", ".join(f"{name}(y, x)" for name in _OF_TWO)
    for query in (f"SELECT {calls} FROM samples", f"SELECT g, {calls} FROM samples WHERE g < 10 GROUP BY g ORDER BY g"):
        _assert_close(*_fetch_both(engine, samples, twin, query))
    x, y, far = (content[name].to_numpy(zero_copy_only=False) for name in ("x", "y", "far"))
    known = ~(np.isnan(x) | np.isnan(y))
    [(near, distant)] = query_rows(engine, samples, "SELECT CORR(y, x), CORR(y, far) FROM samples")
    assert near == pytest.approx(np.corrcoef(x[known], y[known])[0, 1])
    assert distant == pytest.approx(np.corrcoef(far[known] - 1e9, y[known])[0, 1], rel=1e-3)


def test_large_offsets_keep_the_deviation(engine: Engine, samples: Catalogue, content: pa.RecordBatch) -> None:
    """ClickHouse's plain forms lose all digits here."""
    x = content["x"].to_numpy(zero_copy_only=False)
    [(deviation,)] = query_rows(engine, samples, "SELECT STDDEV(far) FROM samples")
    assert deviation == pytest.approx(np.nanstd(x, ddof=1) / 1000, rel=1e-4)


@pytest.mark.parametrize("fraction", [0, 0.1, 0.25, 0.5, 0.999, 1])
def test_quantiles_match_numpy(fraction: float, engine: Engine, samples: Catalogue, content: pa.RecordBatch) -> None:
    for column in _NUMBERS:
        values = np.array([v for v in content[column].to_pylist() if v is not None], float)
        query = f"SELECT skyhouse_quantile({column}, {fraction}) FROM samples"
        assert query_rows(engine, samples, query)[0][0] == pytest.approx(np.quantile(values, fraction), rel=1e-15)


@pytest.mark.parametrize("frame", ["", " ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING"])
def test_statistics_over_windows_match_duckdb(
    frame: str, engine: Engine, samples: Catalogue, twin: duckdb.DuckDBPyConnection
) -> None:
    over = f"OVER (PARTITION BY g ORDER BY id{frame})"
    calls = [f"{name}(x) {over}" for name in _OF_ONE]
    # DuckDB's correlation of equal values is NaN
    calls += [
        f"CASE WHEN STDDEV_POP(x) {over} > 0 THEN {name}(y, x) {over} END" for name in ("COVAR_SAMP", "COVAR_POP")
    ]
    query = f"SELECT id, {', '.join(calls)} FROM samples WHERE id < 400 ORDER BY id"
    _assert_close(*_fetch_both(engine, samples, twin, query), 1e-9)


@pytest.mark.parametrize(
    ("calls", "values"),
    [
        ("STDDEV(x), STDDEV_SAMP(x), VARIANCE(x), VAR_SAMP(x)", (None, None, None, None)),
        ("STDDEV_POP(x), VAR_POP(x), MEDIAN(x) - AVG(x)", (0.0, 0.0, 0.0)),
        ("COVAR_SAMP(x, x), COVAR_POP(x, x), CORR(x, x)", (None, 0.0, None)),
    ],
)
def test_single_row(calls: str, values: tuple[float | None, ...], engine: Engine, samples: Catalogue) -> None:
    assert query_rows(engine, samples, f"SELECT {calls} FROM samples WHERE g = 10") == [values]


@pytest.mark.parametrize("where", ["g = 11", "g = 99", "x IS NULL"])
def test_no_values(where: str, engine: Engine, samples: Catalogue) -> None:
    functions = [*_OF_ONE, "SUM", "AVG", "MIN", "MAX"]
    calls = [*(f"{name}(x)" for name in functions), *(f"{name}(x, x)" for name in _OF_TWO), "skyhouse_quantile(x, 0.5)"]
    assert query_rows(engine, samples, f"SELECT {', '.join(calls)} FROM samples WHERE {where}") == [
        (None,) * len(calls)
    ]
    assert query_rows(engine, samples, f"SELECT COUNT(x), COUNT(DISTINCT x) FROM samples WHERE {where}") == [(0, 0)]


def test_no_groups(engine: Engine, samples: Catalogue) -> None:
    query = "SELECT g, MEDIAN(x), CORR(x, y), ivo_histogram(x, 0, 1, 2) FROM samples WHERE g = 99 GROUP BY g"
    assert query_rows(engine, samples, query) == []


def test_constants_have_no_correlation(engine: Engine, samples: Catalogue) -> None:
    query = "SELECT CORR(x, id), CORR(id, x), STDDEV(x), COVAR_POP(x, id) FROM samples WHERE g = 12"
    assert query_rows(engine, samples, query) == [(None, None, 0.0, 0.0)]


def test_nan_makes_sums_nan_and_is_ignored_by_quantiles(engine: Engine, samples: Catalogue) -> None:
    x = "CASE WHEN id = 20 THEN SQRT(-1) ELSE x END"
    calls = [f"{name}({x})" for name in ("SUM", "AVG", "STDDEV", "STDDEV_POP", "VARIANCE", "VAR_POP")]
    calls += [f"{name}({x}, id)" for name in _OF_TWO]
    [sums] = query_rows(engine, samples, f"SELECT {', '.join(calls)} FROM samples WHERE id BETWEEN 15 AND 40")
    assert all(math.isnan(value) for value in sums)
    functions = ("MEDIAN({})", "skyhouse_quantile({}, 1)", "MIN({})", "MAX({})", "COUNT({}) - 1")
    with_it = query_rows(
        engine, samples, f"SELECT {', '.join(f.format(x) for f in functions)} FROM samples WHERE id >= 15"
    )
    without = query_rows(engine, samples, f"SELECT {', '.join(f.format('x') for f in functions)} FROM samples WHERE id >= 15 AND id <> 20")  # fmt: skip
    assert with_it[0][:4] == without[0][:4]
    assert with_it[0][4] == without[0][4] + 1  # it is a value


@pytest.mark.parametrize("call", ["SUM(DISTINCT n)", "AVG(DISTINCT n)", "COUNT(DISTINCT n)", "MIN(DISTINCT n)", "MAX(DISTINCT n)", "SUM(DISTINCT f)", "COUNT(DISTINCT x)"])  # fmt: skip
def test_distinct_values(call: str, engine: Engine, samples: Catalogue, twin: duckdb.DuckDBPyConnection) -> None:
    _assert_close(*_fetch_both(engine, samples, twin, f"SELECT g, {call} FROM samples GROUP BY g ORDER BY g"), 1e-6)


@pytest.mark.parametrize(("lower", "upper", "bins"), [(-1, 1, 5), (0, 0.1, 1), (-1e9, 1e9, 3), (-2.5, 2.5, 1000)])
def test_histograms_match_numpy(
    lower: float, upper: float, bins: int, engine: Engine, samples: Catalogue, content: pa.RecordBatch
) -> None:
    x = content["x"].to_numpy(zero_copy_only=False)
    with np.errstate(invalid="ignore"):
        below, above = int(np.sum(~(x >= lower))), int(np.sum(x > upper))  # NULL is NaN here
    inside = np.histogram(x[~np.isnan(x)], bins, (lower, upper))[0].tolist()
    [(given,)] = query_rows(engine, samples, f"SELECT ivo_histogram(x, {lower}, {upper}, {bins}) FROM samples")
    assert given == [below, *inside, above]


def test_histograms_of_groups_and_windows(engine: Engine, samples: Catalogue) -> None:
    groups = query_rows(engine, samples, "SELECT g, COUNT(*), ivo_histogram(n, -10, 10, 4) FROM samples GROUP BY g")
    assert len(groups) == 13
    assert all(sum(counts) == rows for _, rows, counts in groups)
    query = "SELECT id, ivo_histogram(n, -10, 10, 4) OVER (ORDER BY id) FROM samples WHERE id < 50 ORDER BY id"
    assert [sum(counts) for _, counts in query_rows(engine, samples, query)] == list(range(1, 51))


def test_the_upper_limit_is_in_the_last_bin_and_nan_below(ask: Ask) -> None:
    assert ask("SELECT ivo_histogram(id, 1, 9, 2) FROM small.stars") == [([0, 4, 5, 0],)]
    assert ask("SELECT ivo_histogram(SQRT(4 - id), 0, 2, 1) FROM small.stars") == [([5, 4, 0],)]
    assert ask("SELECT ivo_histogram(id, 1, 9, 2) FROM small.stars WHERE id > 9") == [([0, 0, 0, 0],)]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("ivo_histogram(id, 5, 5, 3)", "the histogram ends at 5 but begins at 5"),
        ("ivo_histogram(id, 5, 1, 3)", "the histogram ends at 1"),
        ("ivo_histogram(id, mag, 9, 3)", "takes a number, as a constant as lower; this is REAL"),
        ("ivo_histogram(id, NULL, 9, 3)", "takes a number, as a constant as lower; this is NULL"),
        ("ivo_histogram(id, 1, 9, 0)", "takes a number of bins from 1 to 100000"),
        ("ivo_histogram(id, 1, 9, 1000000000)", "takes a number of bins from 1 to 100000"),
        ("ivo_histogram(id, 1, 9, 2.5)", "takes a number of bins"),
        ("ivo_histogram(name, 1, 9, 2)", "takes a number as val; this is CHAR"),
        ("ivo_histogram(id, 1, 9)", "wrong number of arguments for ivo_histogram: 3"),
        ("skyhouse_quantile(id, 1.5)", "takes a number from 0 to 1"),
        ("skyhouse_quantile(id, -0.5)", "takes a number from 0 to 1"),
        ("skyhouse_quantile(id, mag)", "takes a number from 0 to 1"),
        ("skyhouse_quantile(id, NULL)", "takes a number from 0 to 1, as a literal as fraction; this is NULL"),
        ("MEDIAN(name)", "MEDIAN takes a number; this is CHAR"),
        ("MEDIAN(variable)", "MEDIAN takes a number; this is BOOLEAN"),
        ("CORR(id)", "wrong number of arguments for CORR: 1"),
        ("STDDEV(SUM(id))", "STDDEV of a set function"),
        ("ivo_string_agg(name, name)", "takes a text, as a literal as delimiter"),
        ("ivo_string_agg(id, ',')", "takes text as expression; this is INTEGER"),
    ],
)
def test_wrong_arguments_are_refused(call: str, said: str, small: Catalogue) -> None:
    with pytest.raises(AdqlError) as caught:
        translate(f"SELECT {call} FROM small.stars", small)
    assert said in caught.value.message


def test_set_functions_are_allowed_where_sql_allows_them(ask: Ask, small: Catalogue) -> None:
    query = "SELECT n_obs, MEDIAN(mag) AS m FROM small.stars GROUP BY n_obs HAVING STDDEV_POP(mag) = 0 ORDER BY MEDIAN(mag) DESC, 1"
    assert ask(query)[:2] == [(32767, 12.25), (5, 9.0)]
    with pytest.raises(AdqlError, match="MEDIAN is not allowed in WHERE"):
        translate("SELECT id FROM small.stars WHERE MEDIAN(mag) > 1", small)


def test_every_set_function_has_a_description() -> None:
    for name, function in SET_FUNCTIONS_BY_NAME.items():
        assert function.name.upper() == name
        assert function.description
