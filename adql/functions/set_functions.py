"""Set functions of ADQL, and statistics in ClickHouse's numerically stable forms (the plain forms lose all digits).

NULLs are ignored. Without values, ClickHouse returns 0 or NaN, and its OrNull forms return NULL. A setting that makes
all forms return NULL exists, but it keeps ClickHouse from using projections, and is applied twice on a cluster. With a
NaN, sums and the values computed from them are NaN; MIN, MAX and quantiles ignore it.
"""

from __future__ import annotations

from adql.functions.function import Parameter, SetFunction
from clickhouse_schema.conjunction_sql import all_sql
from clickhouse_schema.datatypes import DOUBLE, LONG, UNICODE, ColumnType

_X = Parameter("x", "number", "DOUBLE")
_Y = Parameter("y", "number", "DOUBLE")

INTEGERS = ColumnType("int", "*")


def _infer_sum_type(types: tuple[ColumnType, ...]) -> ColumnType:
    return LONG if types[0].is_integer else DOUBLE


def _infer_own_type(types: tuple[ColumnType, ...]) -> ColumnType:
    return types[0]


ADQL_SET_FUNCTIONS = (
    SetFunction("COUNT", (Parameter("x", "single"),), LONG, "toInt64(count({distinct}{0}){over})",
                "number of values that are not NULL; COUNT(*) is the number of rows"),
    SetFunction("SUM", (_X,), _infer_sum_type, "sumOrNull({distinct}toFloat64({0})){over}", "sum",
                integer_sql="accurateCast(sumOrNull({distinct}toInt128({0})){over}, 'Nullable(Int64)')"),
    SetFunction("AVG", (_X,), DOUBLE, "avgOrNull({distinct}toFloat64({0})){over}", "mean"),
    SetFunction("MIN", (Parameter("x", "single"),), _infer_own_type, "minOrNull({0}){over}", "least value"),
    SetFunction("MAX", (Parameter("x", "single"),), _infer_own_type, "maxOrNull({0}){over}", "greatest value"),
)  # fmt: skip


def _make_deviation(name: str, engine: str, description: str) -> SetFunction:
    return SetFunction(name, (_X,), DOUBLE, f"{engine}(toFloat64({{0}})){{over}}", description, returns="DOUBLE")


def _make_sample_statistic(name: str, engine: str, description: str) -> SetFunction:
    """Make a statistic that is NULL for a single value, for which ClickHouse returns infinity."""
    value = f"if(count({{0}}){{over}} > 1, {engine}(toFloat64({{0}})){{over}}, NULL)"
    return SetFunction(name, (_X,), DOUBLE, value, description, returns="DOUBLE")


_PAIRS = f"countIf({all_sql('isNotNull({0})', 'isNotNull({1})')}){{over}}"


def _make_pair_statistic(name: str, sql: str, description: str) -> SetFunction:
    return SetFunction(name, (_Y, _X), DOUBLE, sql, description, returns="DOUBLE")


def _correlation_sql() -> str:
    """Return the SQL of the correlation; it is NULL if a variable is constant, for which ClickHouse returns NaN."""
    pair = "(toFloat64({0}), toFloat64({1})){over}"
    constant = all_sql(f"isNaN(corrStable{pair})", f"NOT isNaN(covarPopStable{pair})")
    return f"if({_PAIRS} < 2 OR {constant}, NULL, corrStable{pair})"


def _histogram_sql(value: str, lower: str, upper: str, bins: str, over: str) -> str:
    """Return the SQL of the counts in half-open bins, except the last bin, which includes ``upper``."""
    x, low, high = (f"toFloat64({argument})" for argument in (value, lower, upper))
    number = f"least(floor(({x} - {low}) / ({high} - {low}) * {bins}), {int(bins) - 1})"
    number = f"multiIf(isNull({x}) OR isNaN({x}) OR {x} < {low}, 0, {x} > {high}, {int(bins) + 1}, 1 + {number})"
    counts = f"countResample(0, {int(bins) + 2}, 1)(toUInt32(assumeNotNull({number}))){over}"
    return f"arrayMap(n -> accurateCast(n, 'Int32'), {counts})"


def _string_agg_sql(value: str, delimiter: str, over: str) -> str:
    """Return SQL that joins the texts in the order of their code points, so that the result is always the same."""
    text = f"arrayStringConcat(arraySort(groupArray({value}){over}), {delimiter})"
    return f"if(count({value}){over} = 0, NULL, {text})"


STATISTICAL_FUNCTIONS = (
    _make_sample_statistic("STDDEV", "stddevSampStable",
                           "Standard deviation of a sample, another name of STDDEV_SAMP."),
    _make_sample_statistic("STDDEV_SAMP", "stddevSampStable",
                           "Standard deviation of a sample (divisor n - 1); NULL for one value."),
    _make_deviation("STDDEV_POP", "stddevPopStableOrNull", "Standard deviation of a population (divisor n)."),
    _make_sample_statistic("VARIANCE", "varSampStable", "Variance of a sample, another name of VAR_SAMP."),
    _make_sample_statistic("VAR_SAMP", "varSampStable", "Variance of a sample (divisor n - 1); NULL for one value."),
    _make_deviation("VAR_POP", "varPopStableOrNull", "Variance of a population (divisor n)."),
    _make_pair_statistic("COVAR_SAMP",
                         f"if({_PAIRS} > 1, covarSampStable(toFloat64({{0}}), toFloat64({{1}})){{over}}, NULL)",
                         "Covariance of a sample of pairs (divisor n - 1); NULL for one pair."),
    _make_pair_statistic("COVAR_POP", "covarPopStableOrNull(toFloat64({0}), toFloat64({1})){over}",
                         "Covariance of a population of pairs (divisor n)."),
    _make_pair_statistic("CORR", _correlation_sql(),
                         "Correlation coefficient; NULL for one pair, or if x or y is constant."),
    SetFunction("MEDIAN", (_X,), DOUBLE, "quantileExactInclusiveOrNull(0.5)(toFloat64({0})){over}",
                "Exact median; for an even number of values the mean of the two middle ones.", returns="DOUBLE"),
    SetFunction("skyhouse_quantile", (_X, Parameter("fraction", "fraction", "DOUBLE")), DOUBLE,
                "quantileExactInclusiveOrNull({1})(toFloat64({0})){over}",
                "Exact quantile: the value below which the fraction of the values lies, interpolated linearly.",
                returns="DOUBLE"),
    SetFunction("ivo_histogram",
                (Parameter("val", "number", "REAL"), Parameter("lower", "bound", "REAL"),
                 Parameter("upper", "bound", "REAL"), Parameter("nbins", "bins", "INTEGER")),
                INTEGERS, _histogram_sql,
                "Numbers of values below lower (with NULL and NaN), in each of nbins equal bins, and above upper.",
                returns="INTEGER_ARRAY"),  # the IVOA declares INTEGER[], but TOPCAT's parser rejects brackets
    SetFunction("ivo_string_agg", (Parameter("expression", "text", "TEXT"), Parameter("delimiter", "literal", "TEXT")),
                UNICODE, _string_agg_sql,
                "The texts of the group, sorted and joined by delimiter; NULLs are ignored.",
                returns="TEXT"),
)  # fmt: skip
