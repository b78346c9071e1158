"""ObsCore as in its page: loaded into the running service, declared while it is loaded, and queried by clients."""

from __future__ import annotations

import csv
import re
import shlex
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import httpx
import pytest
import pyvo
from astropy.time import Time
from pyvo.utils.prototype import PrototypeWarning

from clickhouse_schema.obscore import DATA_MODEL, MANDATORY
from clickhouse_schema.schema_files.yaml_reader import read_schema
from loaders.cli.console_reporter import ConsoleReporter
from loaders.control.control_client import hand_over
from loaders.control.table_requests import TableRequest
from loaders.tables.schema_names import find_example_file, find_schema_file
from tests.support.environment import ROOT, make_environment
from tests.support.stilts import run_stilts

PAGE = (ROOT / "docs" / "obscore.md").read_text()
FIRST, OWN, RADIO = re.findall(r"^```sh\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
RADIO_QUERY, QUERY = re.findall(r"^```sql\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


def _command(line: str, folder: Path, data: Path) -> str:
    """Return the output of one command of the page."""
    words, _, target = line.partition(" > ")
    program, *arguments = shlex.split(words)
    assert program == "skyhouse"
    done = subprocess.run(
        [sys.executable, "-c", "from loaders.cli.skyhouse_command import main; main()", *arguments],
        cwd=folder,
        env=make_environment(data),
        capture_output=True,
        text=True,
        timeout=100,
        check=True,
    )
    if target:
        (folder / target).write_text(done.stdout)
    return done.stdout


def _drop(data: Path, table: str = "ivoa.ObsCore") -> None:
    assert hand_over(data, TableRequest(command="drop", table=table), ConsoleReporter()) == 0


def _models(tap_url: str) -> list[tuple[str, str]]:
    found = re.findall(r'<dataModel ivo-id="(.*?)">(.*?)<', httpx.get(f"{tap_url}/capabilities").text)
    return [(name, ident) for ident, name in found]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("obscore")


@pytest.fixture(scope="module")
def obscore(tap_url: str, demo_data: Path, folder: Path) -> Iterator[str]:
    """Yield the running service, with the example loaded by the first commands of the page."""
    assert _models(tap_url) == []
    said = [_command(line, folder, demo_data) for line in FIRST.splitlines()]
    assert said[1] == "loaded 45 rows into ivoa.ObsCore\n"
    assert "45 rows, 45 were loaded" in said[2]
    yield tap_url
    _drop(demo_data)
    assert _models(tap_url) == []


def test_the_data_model_is_declared_while_its_table_is_there(obscore: str, demo_data: Path, folder: Path) -> None:
    assert _models(obscore) == [DATA_MODEL]
    _drop(demo_data)
    assert _models(obscore) == []
    for line in OWN.splitlines():
        _command(line, folder, demo_data)
    assert _models(obscore) == [DATA_MODEL]


def test_taplint_finds_nothing(obscore: str, demo_data: Path, folder: Path) -> None:
    """With all optional columns, some of which are in the example."""
    [table] = read_schema(find_schema_file("obscore"))[0].tables
    with find_example_file("obscore").open(newline="") as example, (folder / "all.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, [column.name for column in table.columns], restval="")
        writer.writeheader()
        writer.writerows(csv.DictReader(example))
    _command("skyhouse load all.csv --table ivoa.ObsCore --schema obscore --replace --strict", folder, demo_data)
    stages = "TMV TME TMS TMC MDQ OBS EXA"
    report = run_stilts("taplint", f"tapurl={obscore}", f"stages={stages}", "report=EWSF").stdout.decode()
    assert re.findall(r"^[EWF]-.*$", report, re.MULTILINE) == []
    assert "ivoa.ObsCore columns: 30/30 required, 30/30 optional, 0 custom" in report
    assert re.search(r"^Totals: Errors: 0; Warnings: 0;.*Failures: 0", report, re.MULTILINE), report


def test_radio_data_are_in_a_second_table(obscore: str, demo_data: Path, folder: Path) -> None:
    for line in (*FIRST.splitlines()[:1], "skyhouse load obscore.csv --table ivoa.ObsCore --schema obscore --replace"):
        _command(line, folder, demo_data)
    for line in RADIO.splitlines():
        _command(line, folder, demo_data)
    try:
        service = pyvo.dal.TAPService(obscore)
        assert service.tables["ivoa.obscore_radio"].utype == "ivo://ivoa.net/std/obscore#radio-ext-1.0"
        rows = service.search(RADIO_QUERY).to_table()
        assert len(rows) == 5
        assert rows["s_largest_angular_scale"].unit == "arcsec"
        report = run_stilts(
            "taplint", f"tapurl={obscore}", "stages=TMV TME TMS TMC OBS EXA", "report=EWSF"
        ).stdout.decode()
        assert re.findall(r"^[EWF]-.*$", report, re.MULTILINE) == []
    finally:
        _drop(demo_data, "ivoa.obscore_radio")


def test_pyvo_finds_the_data_model_and_the_table(obscore: str) -> None:
    service = pyvo.dal.TAPService(obscore)
    [tap] = [capability for capability in service.capabilities if capability.standardid == "ivo://ivoa.net/std/TAP"]
    assert [(model.content, model.ivo_id) for model in tap.datamodels] == [DATA_MODEL]
    table = service.tables["ivoa.ObsCore"]
    assert table.utype == "ivo://ivoa.net/std/obscore#table-1.1"
    assert set(MANDATORY) <= {column.name for column in table.columns}
    rows = service.search(QUERY).to_table()
    assert rows["t_min"].unit == "d"
    assert len(rows) == 2
    regions = service.search("SELECT s_region FROM ivoa.obscore WHERE s_region IS NOT NULL")
    field = regions.getdesc("s_region")
    assert (field.datatype, field.xtype, field.utype) == (
        "char",
        "adql:REGION",
        "obscore:Char.SpatialAxis.Coverage.Support.Area",
    )


def test_pyvo_discovers_images(obscore: str) -> None:
    """pyvo's global discovery, with this service as the only one in the registry."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrototypeWarning)  # a warning of pyvo on import
        from pyvo.discover.image import ImageDiscoverer, Queriable
    service = pyvo.dal.TAPService(obscore)
    record = SimpleNamespace(ivoid="ivo://x/y", res_title="here", get_service=lambda *_, **__: service)
    discoverer = ImageDiscoverer(space=(83.7, -5.1, 0.3), time=(Time(60310, format="mjd"), Time(60311, format="mjd")))
    discoverer.obscore_recs = [Queriable(record)]
    discoverer.query_services()
    assert discoverer.failed_services == 0
    assert [found.target_name for found in discoverer.results] == ["M 42"]
    assert discoverer.results[0].s_region.startswith("Polygon ICRS ")


def test_stilts_reads_the_table(obscore: str) -> None:
    query = "SELECT obs_id, facility_name, t_min FROM ivoa.ObsCore WHERE dataproduct_type = 'cube' ORDER BY obs_id"
    result = run_stilts("tapquery", "sync=true", f"tapurl={obscore}", f"adql={query}", "ofmt=csv")
    assert result.returncode == 0, result.stderr.decode()
    assert result.stdout.decode().splitlines()[:2] == ["obs_id,facility_name,t_min", "array-00,Example Array,60410.0"]
