"""Compare the portal's periodogram with astropy's."""

from __future__ import annotations

import numpy as np
import pytest
from astropy.timeseries import LombScargle

from tests.web.portal_modules import run_module

_SCRIPT = """
import { chooseGrid, computePower, falseAlarmProbability } from 'SRC/statistics/lombScargle.ts';
const column = (name) => asked[name] && Float64Array.from(asked[name]);
const series = { times: column('times'), values: column('values'), errors: column('errors') };
const grid = chooseGrid(series.times);
const power = computePower(series, grid);
const falseAlarms = asked.powers.map((height) => falseAlarmProbability(height, series, grid));
console.log(JSON.stringify({ grid, power: [...power], falseAlarms }));
"""
_POWERS = [0.01, 0.2, 0.5, 0.9]


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("rows", [12, 300])
def test_powers_and_false_alarms_are_those_of_astropy(rows: int, weighted: bool) -> None:
    random = np.random.default_rng(rows)
    times = np.sort(random.uniform(58000, 58200, rows))
    errors = random.uniform(0.02, 0.3, rows)
    values = 15 + 0.3 * np.sin(2 * np.pi * times / 3.7) + random.normal(0, errors)
    expected = LombScargle(times, values, errors if weighted else None)
    frequencies = expected.autofrequency()
    found = run_module(
        _SCRIPT,
        {
            "times": list(times),
            "values": list(values),
            "errors": list(errors) if weighted else None,
            "powers": _POWERS,
        },
    )
    grid = found["grid"]
    assert grid["count"] == len(frequencies)
    assert grid["start"] + grid["step"] * np.arange(grid["count"]) == pytest.approx(frequencies, rel=1e-12)
    assert found["power"] == pytest.approx(expected.power(frequencies, method="slow"), abs=1e-9)
    highest = frequencies[-1]
    alarms = expected.false_alarm_probability(np.array(_POWERS), method="baluev", maximum_frequency=highest)
    assert found["falseAlarms"] == pytest.approx(alarms, rel=1e-6, abs=1e-12)
