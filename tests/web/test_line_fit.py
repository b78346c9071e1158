"""Compare the portal's fitted lines and binned values with numpy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.web.portal_modules import run_module

_FIT = """
import { fitLine, lineAt } from 'SRC/statistics/lineFit.ts';
const column = (name) => asked[name] && Float64Array.from(asked[name]);
const [x, y] = [column('x'), column('y')];
const fit = fitLine({ x, y, members: Uint32Array.from(x.keys()), errors: column('errors') ?? undefined });
console.log(JSON.stringify({ fit, band: asked.positions.map((position) => lineAt(fit, position).error) }));
"""
_BINS = """
import { binValues } from 'SRC/statistics/binnedValues.ts';
const [x, y] = [Float64Array.from(asked.x), Float64Array.from(asked.y)];
const series = { x, y, members: Uint32Array.from(x.keys()) };
console.log(JSON.stringify(binValues(series, asked.bins, asked.statistic)));
"""


def _fit(x: Any, y: Any, errors: Any = None, positions: tuple[float, ...] = ()) -> dict[str, Any]:
    asked = {
        "x": list(x),
        "y": list(y),
        "errors": None if errors is None else list(errors),
        "positions": list(positions),
    }
    found: dict[str, Any] = run_module(_FIT, asked)
    return found


@pytest.mark.parametrize("origin", [0, 57_388])
def test_a_line_equals_the_line_of_polyfit(origin: float) -> None:
    random = np.random.default_rng(3)
    x = origin + random.uniform(-5, 20, 400)
    y = 3.5 - 0.7 * (x - origin) + random.normal(0, 2, x.size)
    positions = (origin - 10.0, origin + 7.0, origin + 50.0)
    found = _fit(x, y, positions=positions)
    # polyfit itself loses digits far from 0: shift the data and move the intercept back
    (slope, start), covariance = np.polyfit(x - origin, y, 1, cov=True)
    design = np.array([[position - origin, 1] for position in positions])
    fit = found["fit"]
    assert fit["slope"] == pytest.approx(slope, rel=1e-9)
    assert fit["intercept"] == pytest.approx(start - slope * origin, rel=1e-9)
    assert fit["slopeError"] == pytest.approx(np.sqrt(covariance[0, 0]), rel=1e-9)
    at_zero = np.array([-origin, 1])
    assert fit["interceptError"] == pytest.approx(np.sqrt(at_zero @ covariance @ at_zero), rel=1e-7)
    assert fit["covariance"] == pytest.approx(covariance[0, 1] - origin * covariance[0, 0], rel=1e-7)
    assert found["band"] == pytest.approx(np.sqrt(np.einsum("ki,ij,kj->k", design, covariance, design)), rel=1e-7)
    residuals = y - start - slope * (x - origin)
    assert fit["rms"] == pytest.approx(np.sqrt(np.mean(residuals**2)), rel=1e-9)
    assert fit["count"] == x.size


def test_a_weighted_line_takes_the_errors_as_they_are() -> None:
    random = np.random.default_rng(4)
    x = random.uniform(0, 3, 60)
    errors = random.uniform(0.05, 0.8, x.size)
    y = 1 + 2 * x + random.normal(0, errors)
    fit = _fit(x, y, errors)["fit"]
    (slope, intercept), covariance = np.polyfit(x, y, 1, w=1 / errors, cov="unscaled")
    assert [fit["intercept"], fit["slope"]] == pytest.approx([intercept, slope], rel=1e-6)
    assert [fit["interceptError"], fit["slopeError"]] == pytest.approx(np.sqrt(np.diag(covariance))[::-1], rel=1e-6)
    assert fit["covariance"] == pytest.approx(covariance[0, 1], rel=1e-6)
    chi_square = np.sum(((y - intercept - slope * x) / errors) ** 2) / (x.size - 2)
    assert fit["chiSquare"] == pytest.approx(chi_square, rel=1e-6)


@pytest.mark.parametrize("statistic", ["mean", "median"])
def test_values_in_bins_are_those_of_numpy(statistic: str) -> None:
    random = np.random.default_rng(5)
    x = random.uniform(0, 10, 500)
    y = random.lognormal(0, 1, x.size)
    found = run_module(
        _BINS, {"x": list(x), "y": list(y), "bins": {"start": 0, "width": 2.5, "count": 4}, "statistic": statistic}
    )
    assert [one["rows"] for one in found] == list(np.histogram(x, 4, (0, 10))[0])
    for bin_, one in enumerate(found):
        own = y[(x >= 2.5 * bin_) & (x < 2.5 * bin_ + 2.5)]
        if statistic == "mean":
            expected = [own.mean(), own.mean() - own.std(ddof=1), own.mean() + own.std(ddof=1)]
        else:
            expected = list(np.percentile(own, [50, 15.8655253931457, 84.1344746068543]))
        assert [one["middle"], one["low"], one["high"]] == pytest.approx(expected, rel=1e-9)
