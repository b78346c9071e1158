"""Compare what the portal's Python scripts draw with what the portal shows."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from astropy.table import Table

from tests.support.environment import ROOT
from tests.web.matplotlib_calls import Call, recorded_matplotlib
from tests.web.portal_modules import run_with_vite

_SCRIPT = """
const { MemoryTable } = await load('plots/points/memoryTable.fixture.ts');
const { defaultSettings } = await load('plots/table/defaultSettings.ts');
const { loadPlotData } = await load('plots/table/plotLoader.ts');
const { loadRowValues } = await load('plots/table/rowValues.ts');
const { arrangeScene } = await load('plots/table/arrangement.ts');
const { summarizeLayers } = await load('plots/layers/layerSummary.ts');
const { planePython } = await load('plots/plane/planeScript.ts');
const { cornerPython } = await load('plots/corner/cornerScript.ts');
const { spacePython } = await load('plots/space/spaceScript.ts');
const { lineAt } = await load('statistics/lineFit.ts');

const size = { width: 640, height: 480 };
async function write({ fields, columns, filters, changes, view }) {
    const table = new MemoryTable(fields, columns);
    await table.filterBy(filters);
    const usual = defaultSettings(fields);
    const merge = (one, other) => {
        const isObject = one && other && typeof one === 'object' && typeof other === 'object' && !Array.isArray(other);
        return isObject ? Object.fromEntries([...new Set([...Object.keys(one), ...Object.keys(other)])].map((key) => [key, merge(one[key], other[key])])) : other === undefined ? one : other;
    };
    const settings = merge(usual, changes);
    if (settings.kind === 'corner' || settings.kind === 'space') {
        const values = await loadRowValues(table, settings);
        const camera = { longitude: -60, latitude: 24, zoom: 1, across: 0, down: 0 };
        const script = settings.kind === 'corner' ? cornerPython(values, table) : spacePython(values, table, camera);
        return { script, count: values.rows.length, axes: values.axes.map(({ values }) => [...values]) };
    }
    const data = await loadPlotData(table, settings);
    const arranged = arrangeScene(data, table, size, view);
    const scene = { ...arranged, data, fields, size, theme: {}, ratio: 1, moving: false, note: '' };
    const summary = summarizeLayers(scene, undefined);
    const { u0, u1 } = scene.view;
    const line = summary?.fit && Array.from({ length: 65 }, (_, k) => lineAt(summary.fit, u0 + (k / 64) * (u1 - u0)));
    const { points, centre } = data;
    return {
        script: planePython(scene, table),
        ...{ count: points.count, u: [...points.u], v: [...points.v], centre },
        ...{ histogram: scene.histogram && [...scene.histogram.counts], line, binned: summary?.binned },
    };
}
const found = {};
for (const [name, given] of Object.entries(asked)) found[name] = await write(given);
console.log(JSON.stringify(found));
"""
_ROWS = 300
_NONE = {"min": None, "max": None}


def _make_columns() -> dict[str, np.ndarray]:
    random = np.random.default_rng(11)
    x = random.uniform(1, 30, _ROWS)
    errors = random.uniform(0.5, 2, _ROWS)
    errors[:5] = 0
    ra = 350 + random.uniform(0, 20, _ROWS)
    return {
        **{"x": x, "y": 5 + 2 * x + random.normal(0, 1, _ROWS), "e_y": errors, "z": random.normal(0, 3, _ROWS)},
        **{"ra": ra % 360, "dec": random.uniform(-30, 70, _ROWS), "plx": random.normal(5, 4, _ROWS)},
    }


COLUMNS = _make_columns()
KINDS = np.array(["a", "b", "", "c"])[np.arange(_ROWS) % 4]
TABLE = Table({**COLUMNS, "kind": np.ma.masked_array(KINDS, KINDS == "")})
NAMES = TABLE.colnames
_FIELDS = [
    {"name": name, "datatype": "char" if name == "kind" else "double", "kind": "text" if name == "kind" else "number"}
    | {"ra": {"ucd": "pos.eq.ra", "unit": "deg"}, "dec": {"ucd": "pos.eq.dec", "unit": "deg"}}.get(name, {})
    | ({"ucd": "pos.parallax", "unit": "mas"} if name == "plx" else {})
    for name in NAMES
]
VIEWS = {
    True: {"u0": 0.2, "u1": 1.3, "v0": 0.5, "v1": 1.7},
    False: {"u0": 2, "u1": 20, "v0": 8, "v1": 44},
}


def axis(name: str, log: bool = False) -> dict[str, Any]:
    return {"column": NAMES.index(name), "minus": -1, "log": log}


def ask(kind: str, view: dict[str, float] | None = None, **changes: Any) -> dict[str, Any]:
    filters = changes.pop("filters", [])
    columns = [[*map(str, KINDS)] if name == "kind" else list(COLUMNS[name]) for name in NAMES]
    return {
        **{"fields": _FIELDS, "columns": columns, "filters": filters, "view": view},
        "changes": {"kind": kind, **changes},
    }


LAYERS = [
    (log, weighted, statistic)
    for log in (False, True)
    for weighted in (False, True)
    for statistic in ("mean", "median")
]


@pytest.fixture(scope="module")
def written() -> dict[str, Any]:
    """Return the scripts of all cases, and what the portal draws."""
    axes = {"x": axis("x"), "y": axis("y"), "value": axis("x"), "time": axis("x"), "flux": axis("y")}
    cases = {
        f"layers {log} {weighted} {statistic}": ask(
            "scatter",
            VIEWS[log],
            axes={"x": axis("x", log), "y": axis("y", log)},
            layers={"fitted": True, "statistic": statistic, "statisticBins": 6, "yError": 2 if weighted else -1},
        )
        for log, weighted, statistic in LAYERS
    }
    kind, x = NAMES.index("kind"), NAMES.index("x")
    filters = [
        {"column": x, "min": 3, "max": 25},
        {"column": kind, "noneOf": ["c"]},
        {"column": kind, "oneOf": ["a", "b", None]},
    ]
    galactic = {"skyStyle": "density", "frame": "galactic"}
    cases |= {
        "kinds": ask("scatter", axes=axes, colour=kind, filters=filters),
        "values": ask("scatter", axes=axes, colour=NAMES.index("z")),
        "density": ask("density", axes=axes),
        "histogram": ask("histogram", axes={"value": axis("x", True)}, logCounts=True, bins=20),
        "curve": ask("curve", axes=axes, period=7.5, error=2),
        "sky": ask("sky", {"u0": -0.3, "u1": 0.3, "v0": -0.1, "v1": 0.5}),
        "whole sky": ask("sky", {"u0": -2.03, "u1": 2.03, "v0": -1.03, "v1": 1.03}, frame="galactic"),
        "cells": ask("sky", {"u0": -2.03, "u1": 2.03, "v0": -1.03, "v1": 1.03}, **galactic),
        "corner": ask("corner", corner={"axes": [axis("x", True), axis("y"), axis("z")]}),
        "space": ask("space", frame="galactic"),
        "sphere": ask("space", space={"distance": -1}),
        "columns": ask("space", space={"by": "columns", "axes": [axis("x"), axis("y", True), axis("z")]}, colour=kind),
    }
    found: dict[str, Any] = run_with_vite(_SCRIPT, cases)
    return found


def draw(script: str, capsys: pytest.CaptureFixture[str]) -> tuple[list[Call], int]:
    """Run a script on the rows. Return the calls of matplotlib, and the reported number of drawn rows."""
    with recorded_matplotlib() as calls:
        exec(compile(script, "plot.py", "exec"), {"rows": TABLE.copy()})
    drawn, total = capsys.readouterr().out.split()[0:3:2]
    assert int(total) == _ROWS
    assert calls[-1][0] == "show"
    return calls, int(drawn)


def calls_of(calls: list[Call], name: str) -> list[Call]:
    return [call for call in calls if call[0] == name]


def scatter_of(calls: list[Call]) -> np.ndarray:
    """Return the coordinates of all points, in the order of the rows."""
    points = [np.array(given, dtype=float) for _, given, _ in calls_of(calls, "scatter")]
    return np.concatenate(points, axis=1)


def test_the_template_is_typed(tmp_path: Path) -> None:
    """Strictly, but for matplotlib, whose types are not installed."""
    template = ROOT / "web" / "src" / "plots" / "script" / "plot_script.py"
    options = [
        "--strict",
        "--config-file=",
        "--ignore-missing-imports",
        "--follow-imports=silent",
        f"--cache-dir={tmp_path}",
    ]
    checked = subprocess.run([sys.executable, "-m", "mypy", *options, template], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout


@pytest.mark.parametrize(("log", "weighted", "statistic"), LAYERS)
def test_line_and_bins_are_those_of_the_portal(
    written: dict[str, Any], capsys: pytest.CaptureFixture[str], log: bool, weighted: bool, statistic: str
) -> None:
    found = written[f"layers {log} {weighted} {statistic}"]
    calls, drawn = draw(found["script"], capsys)
    assert drawn == found["count"] == _ROWS

    def scaled(values: Any) -> Any:
        return np.log10(values) if log else np.asarray(values)

    (_, line, _), (_, centres, _) = calls_of(calls, "plot")
    assert scaled(line[1]) == pytest.approx([one["y"] for one in found["line"]], rel=1e-8)
    low = scaled(calls_of(calls, "fill_between")[0][1][1])
    assert low == pytest.approx([one["y"] - one["error"] for one in found["line"]], rel=1e-8)
    binned = found["binned"]
    assert scaled(centres[0]) == pytest.approx([(one["from"] + one["to"]) / 2 for one in binned])
    assert scaled(centres[1]) == pytest.approx([one["middle"] for one in binned], rel=1e-8)
    lows = scaled(calls_of(calls, "vlines")[0][1][1])
    assert lows == pytest.approx(
        [np.nan if one["low"] is None else one["low"] for one in binned], rel=1e-8, nan_ok=True
    )
    bars = calls_of(calls, "errorbar")
    assert [len(given[0]) for _, given, _ in bars] == ([_ROWS - 5] if weighted else [])


@pytest.mark.parametrize("name", ["values", "curve"])
def test_points_are_those_of_the_portal(written: dict[str, Any], capsys: pytest.CaptureFixture[str], name: str) -> None:
    found = written[name]
    calls, drawn = draw(found["script"], capsys)
    assert drawn * (2 if name == "curve" else 1) == found["count"]
    points = scatter_of(calls)
    assert np.sort(points[0]) == pytest.approx(np.sort(found["u"]))
    assert np.sort(points[1]) == pytest.approx(np.sort(found["v"]))
    if name == "values":
        [(_, _, options)] = calls_of(calls, "scatter")
        assert len(options["c"]) == drawn
        assert calls_of(calls, "colorbar")[0][2]["label"] == "z"
    else:
        # errors of 0 have no bar
        assert len(calls_of(calls, "errorbar")[0][1][0]) == 2 * (_ROWS - 5)


def test_rows_pass_the_filters_and_have_the_colours_of_their_kinds(
    written: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    calls, drawn = draw(written["kinds"]["script"], capsys)
    x = COLUMNS["x"]
    kept = (x >= 3) & (x <= 25) & (KINDS != "c")
    assert drawn == kept.sum() < _ROWS
    scatters = calls_of(calls, "scatter")
    labels = [options["label"] for _, _, options in scatters]
    assert sorted(labels) == ["(none)", "a", "b", "c"]
    for label, (_, given, _) in zip(labels, scatters, strict=True):
        assert list(given[0]) == list(x[kept & (label.replace("(none)", "") == KINDS)])


def test_bins_and_cells_are_those_of_the_portal(written: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    calls, _ = draw(written["histogram"]["script"], capsys)
    [(_, (values,), options)] = calls_of(calls, "hist")
    assert list(np.histogram(values, options["bins"])[0]) == written["histogram"]["histogram"]
    assert calls_of(calls, "set_yscale") == [("set_yscale", ("log",), {})]
    assert not calls_of(calls, "set_xscale")
    calls, drawn = draw(written["density"]["script"], capsys)
    [(_, (x, y), options)] = calls_of(calls, "hist2d")
    assert np.histogram2d(x, y, options["bins"])[0].sum() == drawn == _ROWS


@pytest.mark.parametrize("name", ["sky", "whole sky"])
def test_positions_are_those_of_the_portal(
    written: dict[str, Any], capsys: pytest.CaptureFixture[str], name: str
) -> None:
    found = written[name]
    calls, drawn = draw(found["script"], capsys)
    assert drawn == found["count"] == _ROWS
    x, y = scatter_of(calls)
    # the Hammer-Aitoff projection, at half of matplotlib's size
    longitude, latitude = (np.radians(x), np.radians(y)) if name == "sky" else (-x, y)
    scale = np.sqrt(1 + np.cos(latitude) * np.cos(longitude / 2))
    assert -2 * np.cos(latitude) * np.sin(longitude / 2) / scale == pytest.approx(found["u"], abs=1e-6)
    assert np.sin(latitude) / scale == pytest.approx(found["v"], abs=1e-6)


def test_cells_of_the_sky_have_all_rows(written: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    calls, drawn = draw(written["cells"]["script"], capsys)
    assert drawn == _ROWS
    [(_, (_, up, density), _)] = calls_of(calls, "pcolormesh")
    # rows per square degree, summed over the sphere
    middle = (up[1:, :-1] + up[:-1, :-1]) / 2
    area = np.cos(middle) * (360 / 1000) * (180 / 500)
    assert (density.filled(0) * area).sum() == pytest.approx(_ROWS, rel=0.05)


def test_corner_plots_have_the_rows_of_the_portal(written: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    found = written["corner"]
    calls, drawn = draw(found["script"], capsys)
    assert drawn == found["count"]
    histograms = [given[0] for _, given, _ in calls_of(calls, "hist")]
    assert len(histograms) == 3
    assert len(calls_of(calls, "scatter")) == 3
    for values, own in zip(histograms, found["axes"], strict=True):
        assert np.sort(values) == pytest.approx(np.sort(own))
    assert [given[0] for _, given, _ in calls_of(calls, "set_xlabel")] == ["log10 x", "y", "z"]


@pytest.mark.parametrize("name", ["space", "sphere", "columns"])
def test_plots_in_space_have_the_points_of_the_portal(
    written: dict[str, Any], capsys: pytest.CaptureFixture[str], name: str
) -> None:
    found = written[name]
    calls, drawn = draw(found["script"], capsys)
    assert drawn == found["count"]
    assert (drawn < _ROWS) == (name == "space")
    for values, own in zip(scatter_of(calls), found["axes"], strict=True):
        assert np.sort(values) == pytest.approx(np.sort(own), abs=1e-5 * np.ptp(own))
