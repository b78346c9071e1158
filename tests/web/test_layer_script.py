"""What the portal's plot scripts draw of lines and bins against what the portal shows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.web.portal_modules import run_module

_SCRIPT = """
const { drawErrors, drawSummary, readErrors, scriptErrors } = await import('SRC/plots/layerScript.ts');
const { defaultSettings } = await import('SRC/plots/defaultSettings.ts');
const { fitLine, lineAt } = await import('SRC/layers/lineFit.ts');
const { binValues } = await import('SRC/layers/binnedValues.ts');
const fields = ['x', 'y', 'e_y'].map((name) => ({ name, datatype: 'double', kind: 'number' }));
const usual = defaultSettings(fields);
const [logX, logY] = asked.logs;
const axes = { ...usual.axes, x: { ...usual.axes.x, column: 0, minus: -1, log: logX }, y: { ...usual.axes.y, column: 1, minus: -1, log: logY } };
const layers = { ...usual.layers, statistic: asked.statistic, yError: asked.weighted ? 2 : -1 };
const settings = { ...usual, kind: 'scatter', axes, layers };
const masked = (name, mask) => `${name}[${mask}]`;
const errors = scriptErrors(fields, settings);
const x = Float64Array.from(asked.x, (value) => (logX ? Math.log10(value) : value));
const y = Float64Array.from(asked.y, (value) => (logY ? Math.log10(value) : value));
const sigma = Float64Array.from(asked.e_y, (value, at) => (logY ? value / (asked.y[at] * Math.LN10) : value));
const { u0, u1, v0, v1 } = asked.view;
const members = Uint32Array.from([...x.keys()].filter((at) => x[at] >= u0 && x[at] <= u1 && y[at] >= v0 && y[at] <= v1));
const fit = fitLine({ x, y, members, errors: asked.weighted ? sigma : undefined });
const binned = binValues({ x, y, members }, asked.bins, asked.statistic);
const summary = { settings, fit, binned, weighted: asked.weighted, basis: 'view' };
const lines = [...readErrors(fields, errors), ...drawErrors(errors, masked), ...drawSummary(summary, asked.view, masked, false)];
const places = Array.from({ length: 65 }, (_, k) => lineAt(fit, u0 + (k / 64) * (u1 - u0)));
console.log(JSON.stringify({ lines, places, binned }));
"""


class _Axes:
    """Notes what is drawn."""

    def __init__(self) -> None:
        self.drawn: dict[str, list[Any]] = {}

    def __getattr__(self, name: str) -> Any:
        return lambda *given, **options: self.drawn.setdefault(name, []).append((given, options))


@pytest.mark.parametrize("statistic", ["mean", "median"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("logs", [(False, False), (True, True)])
def test_a_script_draws_the_line_and_the_bins_of_the_portal(
    logs: tuple[bool, bool], weighted: bool, statistic: str
) -> None:
    random = np.random.default_rng(11)
    x = random.uniform(1, 30, 300)
    y = 5 + 2 * x + random.normal(0, 1, x.size)
    errors = random.uniform(0.5, 2, x.size)
    errors[:5] = 0
    view = {"u0": 0.2, "u1": 1.3, "v0": 0.5, "v1": 1.7} if logs[0] else {"u0": 2, "u1": 20, "v0": 8, "v1": 44}
    bins = {"start": view["u0"], "width": (view["u1"] - view["u0"]) / 6, "count": 7}
    asked = {"logs": logs, "weighted": weighted, "statistic": statistic, "view": view, "bins": bins}
    found = run_module(_SCRIPT, {**asked, "x": list(x), "y": list(y), "e_y": list(errors)})
    axes = _Axes()
    columns = {"x": x, "y": y, "e_y": errors}
    good = np.ones(x.size, dtype=bool)
    exec(
        "\n".join(found["lines"]), {"np": np, "ax": axes, "x": x, "y": y, "good": good, "numbers": columns.__getitem__}
    )

    def scaled(values: Any, is_log: bool) -> Any:
        return np.log10(values) if is_log else np.asarray(values)

    line, centres = axes.drawn["plot"]
    assert scaled(line[0][1], logs[1]) == pytest.approx([place["y"] for place in found["places"]], rel=1e-8)
    low = scaled(axes.drawn["fill_between"][0][0][1], logs[1])
    assert low == pytest.approx([place["y"] - place["error"] for place in found["places"]], rel=1e-8)
    binned = found["binned"]
    assert scaled(centres[0][0], logs[0]) == pytest.approx([(one["from"] + one["to"]) / 2 for one in binned])
    assert scaled(centres[0][1], logs[1]) == pytest.approx([one["middle"] for one in binned], rel=1e-8)
    assert scaled(axes.drawn["vlines"][0][0][1], logs[1]) == pytest.approx([one["low"] for one in binned], rel=1e-8)
    bars = axes.drawn.get("errorbar", [])
    assert [len(given[0]) for given, _ in bars] == ([x.size - 5] if weighted else [])
