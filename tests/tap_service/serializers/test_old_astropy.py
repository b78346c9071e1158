"""Results as the astropy of Debian 12 reads them, in a separate environment, which .ci/install makes.

astropy before 7.1 reads the arraysize ``n*`` of a binary serialization as ``n``: it fails, or reads wrong rows.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from clickhouse_schema.column_links import InputParam, Link, PlacedLink, PlacedService, ResultLinks, Service
from clickhouse_schema.datatypes import DOUBLE, ColumnType, CoordinateSystem, Field, TimeSystem
from tap_service.serializers import ResultInfo, overflow_status
from tests.tap_service.serializers import votable_columns
from tests.tap_service.serializers.test_values import assert_same_columns
from tests.tap_service.serializers.values import NOT_READ, VALUES, VOTABLES

PYTHON = Path(sys.prefix, "old-astropy", "bin", "python")
DIALECTS = ("", ";version=1.5", ";content=mivot", ";version=1.5;content=mivot")

#: parameters of services have types too
SERVICE = Service(
    name="cutout",
    access_url="http://archive.example.org/cut",
    input_params=(
        InputParam(name="BAND", datatype="unicode", arraysize="9*", options=("é",)),
        InputParam(name="COUNT", datatype="int", max=20),
    ),
)
LINK = Link(href="http://a/${c}")

pytestmark = pytest.mark.skipif(sys.version_info >= (3, 14), reason="Python 3.14 has no wheels of astropy before 7.1")


def fill_fields(form: str) -> tuple[list[Field], list[list[Any]]]:
    """A column of each type that any astropy reads, and columns with systems."""
    kinds = [kind for kind in VALUES if form not in NOT_READ.get(kind, ())]
    rows = 1 + max(len(VALUES[kind]) for kind in kinds)
    fields = [
        Field("ra", DOUBLE, "deg", "pos.eq.ra;meta.main", coordinate_system=CoordinateSystem("ICRS", "J2016.0")),
        Field("dec", DOUBLE, "deg", "pos.eq.dec;meta.main", coordinate_system=CoordinateSystem("BODY")),
        Field("mjd", DOUBLE, "d", time_system=TimeSystem("TDB", "BARYCENTER", "MJD-origin")),
        *(Field(f"c{number}", kind) for number, kind in enumerate(kinds)),
    ]
    columns: list[list[Any]] = [[1.25] * rows] * 3
    columns += [[*VALUES[kind], *[None] * (rows - len(VALUES[kind]))] for kind in kinds]
    return fields, columns


def describe_result(fields: list[Field]) -> ResultInfo:
    indexes = {field.name: index for index, field in enumerate(fields)}
    refs = [InputParam(name=field.name, ref=field.name) for field in fields if field.type not in NOT_READ]
    service = SERVICE.model_copy(update={"input_params": (*SERVICE.input_params, *refs)})
    links = ResultLinks((PlacedLink(0, LINK, {"c": 0}),), (PlacedService(service, indexes),))
    return ResultInfo("SELECT 'é'", notes=("a note",), links=links)


def test_every_type_in_every_serialization(write: Any, tmp_path: Path) -> None:
    written = {}
    for number, (form, dialect) in enumerate((form, dialect) for form in VOTABLES for dialect in DIALECTS):
        fields, columns = fill_fields(form)
        document = write(form + dialect, fields, columns, info=describe_result(fields), status=overflow_status(9, ""))
        (tmp_path / f"{number}.vot").write_bytes(document)
        written[f"{number}.vot"] = (form, [field.type for field in fields], columns)
    command = [PYTHON, votable_columns.__file__, tmp_path]
    run = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert run.returncode == 0, run.stderr
    read = json.loads(run.stdout)
    assert read.keys() == written.keys()
    for name, (form, kinds, columns) in written.items():
        assert_same_columns(form, read[name], kinds, columns)


def test_the_limit_is_declared_where_all_can_read_it(write: Any) -> None:
    """In TABLEDATA, for a ``char``; astropy before 7.1 refuses a ``unicodeChar`` with a limit there too."""
    fields = [Field("a", ColumnType("char", "12*")), Field("b", ColumnType("unicodeChar", "9*"))]
    declared = {}
    for form in VOTABLES:
        head = write(form, fields, [[], []]).decode()
        declared[form] = [head.split(f'name="{name}"')[1].split('arraysize="')[1].split('"')[0] for name in "ab"]
    assert declared == {"votable/b2": ["*", "*"], "votable/b": ["*", "*"], "votable/td": ["12*", "*"]}
