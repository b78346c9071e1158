"""Set functions: ADQL's own, and statistics in the engine's numerically stable forms (the plain ones lose all digits).

NULLs are left out. Of no values the engine gives 0 or NaN, and its forms with OrNull give NULL (the setting that makes
these of the others stops the engine from using projections, and is applied twice on a cluster). NaN makes sums and what
is made of them NaN; MIN, MAX and quantiles leave it out.
"""

from __future__ import annotations

from adql.functions.function import Parameter, SetFunction
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
                "number of values that are not NULL; COUNT(*): of rows"),
    SetFunction("SUM", (_X,), _infer_sum_type, "sumOrNull({distinct}toFloat64({0})){over}", "sum",
                integer_sql="accurateCast(sumOrNull({distinct}toInt128({0})){over}, 'Nullable(Int64)')"),
    SetFunction("AVG", (_X,), DOUBLE, "avgOrNull({distinct}toFloat64({0})){over}", "mean"),
    SetFunction("MIN", (Parameter("x", "single"),), _infer_own_type, "minOrNull({0}){over}", "least value"),
    SetFunction("MAX", (Parameter("x", "single"),), _infer_own_type, "maxOrNull({0}){over}", "greatest value"),
)  # fmt: skip


def _make_deviation(name: str, engine: str, description: str) -> SetFunction:
    return SetFunction(name, (_X,), DOUBLE, f"{engine}(toFloat64({{0}})){{over}}", description, returns="DOUBLE")


def _make_sample_statistic(name: str, engine: str, description: str) -> SetFunction:
    """Of one value the engine says infinity."""
    value = f"if(count({{0}}){{over}} > 1, {engine}(toFloat64({{0}})){{over}}, NULL)"
    return SetFunction(name, (_X,), DOUBLE, value, description, returns="DOUBLE")


_PAIRS = "countIf(isNotNull({0}) AND isNotNull({1})){over}"


def _make_pair_statistic(name: str, sql: str, description: str) -> SetFunction:
    return SetFunction(name, (_Y, _X), DOUBLE, sql, description, returns="DOUBLE")


def _correlation_sql() -> str:
    """NULL where one of the two does not vary, which the engine calls NaN."""
    pair = "(toFloat64({0}), toFloat64({1})){over}"
    constant = f"(isNaN(corrStable{pair}) AND NOT isNaN(covarPopStable{pair}))"
    return f"if({_PAIRS} < 2 OR {constant}, NULL, corrStable{pair})"


def _histogram_sql(value: str, lower: str, upper: str, bins: str, over: str) -> str:
    """Bins are half open, but for the last one, to which ``upper`` belongs."""
    x, low, high = (f"toFloat64({argument})" for argument in (value, lower, upper))
    place = f"least(floor(({x} - {low}) / ({high} - {low}) * {bins}), {int(bins) - 1})"
    place = f"multiIf(isNull({x}) OR isNaN({x}) OR {x} < {low}, 0, {x} > {high}, {int(bins) + 1}, 1 + {place})"
    counts = f"countResample(0, {int(bins) + 2}, 1)(toUInt32(assumeNotNull({place}))){over}"
    return f"arrayMap(n -> accurateCast(n, 'Int32'), {counts})"


def _string_agg_sql(value: str, delimiter: str, over: str) -> str:
    """Texts in the order of their code points, so that the answer is always the same."""
    text = f"arrayStringConcat(arraySort(groupArray({value}){over}), {delimiter})"
    return f"if(count({value}){over} = 0, NULL, {text})"


STATISTICAL_FUNCTIONS = (
    _make_sample_statistic("STDDEV", "stddevSampStable", "Standard deviation of a sample, the same as STDDEV_SAMP."),
    _make_sample_statistic("STDDEV_SAMP", "stddevSampStable",
                           "Standard deviation of a sample (divisor n - 1); NULL for one value."),
    _make_deviation("STDDEV_POP", "stddevPopStableOrNull", "Standard deviation of a population (divisor n)."),
    _make_sample_statistic("VARIANCE", "varSampStable", "Variance of a sample, the same as VAR_SAMP."),
    _make_sample_statistic("VAR_SAMP", "varSampStable", "Variance of a sample (divisor n - 1); NULL for one value."),
    _make_deviation("VAR_POP", "varPopStableOrNull", "Variance of a population (divisor n)."),
    _make_pair_statistic("COVAR_SAMP",
                         f"if({_PAIRS} > 1, covarSampStable(toFloat64({{0}}), toFloat64({{1}})){{over}}, NULL)",
                         "Covariance of a sample of pairs (divisor n - 1); NULL for one pair."),
    _make_pair_statistic("COVAR_POP", "covarPopStableOrNull(toFloat64({0}), toFloat64({1})){over}",
                         "Covariance of a population of pairs (divisor n)."),
    _make_pair_statistic("CORR", _correlation_sql(),
                         "Coefficient of correlation; NULL for one pair, or if one of the two does not vary."),
    SetFunction("MEDIAN", (_X,), DOUBLE, "quantileExactInclusiveOrNull(0.5)(toFloat64({0})){over}",
                "Median, exact: the mean of the two middle values if their number is even.", returns="DOUBLE"),
    SetFunction("skyhouse_quantile", (_X, Parameter("fraction", "fraction", "DOUBLE")), DOUBLE,
                "quantileExactInclusiveOrNull({1})(toFloat64({0})){over}",
                "Quantile, exact: the value below which the fraction of the values lies, between two of them linearly.",
                returns="DOUBLE"),
    SetFunction("ivo_histogram",
                (Parameter("val", "number", "REAL"), Parameter("lower", "bound", "REAL"),
                 Parameter("upper", "bound", "REAL"), Parameter("nbins", "bins", "INTEGER")),
                INTEGERS, _histogram_sql,
                "Numbers of values below lower (NULL and NaN too), in each of nbins equal bins, and above upper.",
                returns="INTEGER_ARRAY"),  # INTEGER[] to the IVOA; TOPCAT's parser knows no brackets
    SetFunction("ivo_string_agg", (Parameter("expression", "text", "TEXT"), Parameter("delimiter", "literal", "TEXT")),
                UNICODE, _string_agg_sql,
                "The texts of the group, in their order, joined by delimiter; NULLs leave no trace.",
                returns="TEXT"),
)  # fmt: skip
