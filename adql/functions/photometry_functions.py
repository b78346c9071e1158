"""Fluxes and AB magnitudes: the functions of Qserv's scisql, under their names with and without the prefix.

The result is NULL for NULL, NaN and infinity, for the magnitude of a flux that is not positive, and for a negative
error.
AB magnitude of a flux f in erg/s/cm2/Hz: -2.5 log10(f) - 48.6, in nJy: -2.5 log10(f) + 31.4 (Oke & Gunn 1983, ApJ 266,
713). dn is a raw flux, fluxMag0 the raw flux of an object of magnitude 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from adql.functions.function import Function, Parameter
from clickhouse_schema.conjunction_sql import all_sql
from clickhouse_schema.datatypes import DOUBLE

#: d(mag) = _PER_FLUX * d(f) / f
_PER_FLUX = 2.5 / math.log(10)
#: erg/s/cm2/Hz at magnitude 0
_FLUX_0 = 10 ** (-48.6 / 2.5)


def _finite_sql(value: str, *conditions: str) -> str:
    return f"if({all_sql(f'isFinite({value})', *conditions)}, {value}, NULL)"


def _make_flux_functions(name: str, flux: str, zero: str, unit: str) -> Iterator[Function]:
    """Make the functions from a flux to a magnitude and back, with their errors."""
    forward, back = f"{name}ToAbMag", f"abMagTo{name[0].upper()}{name[1:]}"
    magnitude, value = f"(-2.5 * log10({{0}}) {zero})", f"pow(10, -0.4 * ({{0}} {_negate_term(zero)}))"
    yield from _make_function(forward, (flux,), _finite_sql(magnitude), f"AB magnitude of a flux in {unit}.")
    yield from _make_function(
        f"{forward}Sigma", (flux, f"{flux}Sigma"),
        _finite_sql(f"({_PER_FLUX!r} * {{1}} / {{0}})", "{0} > 0", "{1} >= 0"),
        f"Error of the AB magnitude of a flux with its error, both in {unit}.",
    )  # fmt: skip
    yield from _make_function(back, ("mag",), _finite_sql(value), f"Flux in {unit} of an AB magnitude.")
    yield from _make_function(
        f"{back}Sigma", ("mag", "magSigma"), _finite_sql(f"({{1}} * {value} / {_PER_FLUX!r})", "{1} >= 0"),
        f"Error in {unit} of the flux of an AB magnitude with its error.",
    )  # fmt: skip


def _negate_term(term: str) -> str:
    return term.replace("-", "+") if "-" in term else term.replace("+", "-")


def _make_raw_flux_functions() -> Iterator[Function]:
    flux = f"({_FLUX_0!r} * {{0}} / {{1}})"
    spread = "sqrt(pow({0} * {3}, 2) + pow({1} * {2}, 2))"
    errors = ("{1} >= 0", "{3} >= 0")
    both, four = ("dn", "fluxMag0"), ("dn", "dnSigma", "fluxMag0", "fluxMag0Sigma")
    yield from _make_function(
        "dnToAbMag", both, _finite_sql("(-2.5 * log10({0} / {1}))"), "AB magnitude of the raw flux dn."
    )
    yield from _make_function(
        "dnToAbMagSigma", four,
        _finite_sql(f"({_PER_FLUX!r} * {spread} / ({{0}} * {{2}}))", "{0} > 0", "{2} > 0", *errors),
        "Error of the AB magnitude of the raw flux dn.",
    )  # fmt: skip
    yield from _make_function("dnToFlux", both, _finite_sql(flux), "Flux in erg/s/cm2/Hz of the raw flux dn.")
    yield from _make_function(
        "dnToFluxSigma", four, _finite_sql(f"({_FLUX_0!r} * {spread} / pow({{2}}, 2))", *errors),
        "Error in erg/s/cm2/Hz of the flux of the raw flux dn.",
    )  # fmt: skip


def _make_function(name: str, parameters: tuple[str, ...], sql: str, description: str) -> Iterator[Function]:
    for prefix in ("", "scisql_"):
        of_numbers = tuple(Parameter(p, "number", "DOUBLE") for p in parameters)
        yield Function(f"{prefix}{name}", of_numbers, DOUBLE, sql, description, returns="DOUBLE")


PHOTOMETRY_FUNCTIONS = (
    *_make_flux_functions("flux", "flux", "- 48.6", "erg/s/cm2/Hz"),
    *_make_flux_functions("nanojansky", "flux", "+ 31.4", "nJy"),
    *_make_raw_flux_functions(),
)
