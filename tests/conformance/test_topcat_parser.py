"""TOPCAT's own parser, which is part of STILTS, accepts the functions in /capabilities.

taplint's stage EXA parses the examples of a service with the tables and functions that the service declares, and then
runs them. Therefore the examples of this service use every declared form of every function.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
import yaml
from pyvo.dal import TAPService

from adql.functions import USER_DEFINED
from adql.functions.object_name_functions import OBJECT_NAME_FUNCTIONS
from tests.conformance.running_skyhouse import run_skyhouse, running_skyhouse
from tests.support.stilts import run_stilts

_UDF = "ivo://ivoa.net/std/TAPRegExt#features-udf"

_ROWS = """\
id,ra,dec,name,obs_time,source_id,cover
1,45,0.5,a,2026-01-31T12:00:00,4295806720,4/1-2
2,45.1,0.6,b,2026-02-01T00:00:00,4295806721,4/2-3
"""
_COLUMNS = [
    {"name": "id", "datatype": "int"},
    {"name": "ra", "datatype": "double", "ivoa:unit": "deg"},
    {"name": "dec", "datatype": "double", "ivoa:unit": "deg"},
    {"name": "name", "datatype": "string"},
    {"name": "obs_time", "datatype": "timestamp"},
    {"name": "source_id", "datatype": "long"},
    {"name": "cover", "datatype": "string", "votable:xtype": "moc"},
]

#: an argument of each declared type
_ARGUMENTS = {
    "INTEGER": "3", "BIGINT": "source_id", "REAL": "ra", "DOUBLE": "ra", "NUMERIC": "dec", "TEXT": "name",
    "VARCHAR": "name", "TIMESTAMP": "obs_time", "POINT": "POINT('ICRS', ra, dec)", "GEOMETRY": "CIRCLE('ICRS', ra, dec, 1)",
    "MOC": "cover",
}  # fmt: skip

#: functions of literals
_CALLS = {
    "ivo_geom_transform": "ivo_geom_transform('ICRS', 'GALACTIC', CIRCLE('ICRS', ra, dec, 1))",
    **{f"{prefix}s2PtInBox": f"{prefix}s2PtInBox(ra, dec, 44, 0, 46, 1)" for prefix in ("", "scisql_")},
    "ivo_histogram": "ivo_histogram(ra, 0, 90, 3)",
    "ivo_string_agg": "ivo_string_agg(name, ', ')",
    "skyhouse_quantile": "skyhouse_quantile(ra, 0.9)",
}

#: functions that are used in the ON of a join
_CONDITIONS = {
    "skyhouse_nearest": "1 = skyhouse_nearest(1, POINT('ICRS', a.ra, a.dec), POINT('ICRS', b.ra, b.dec), 0.5)",
    "skyhouse_mutual": "1 = skyhouse_mutual(POINT('ICRS', a.ra, a.dec), POINT('ICRS', b.ra, b.dec), 0.5)",
}

#: syntax of ADQL 2.1 that is not in 2.0 and that the parser of STILTS before 3.5 does not know
_NEW_IN_2_1 = (
    "SELECT IN_UNIT(ra, 'arcmin') AS minutes, DISTANCE(POINT('', ra, dec), POINT('', 45, 0)) AS d FROM functions.things",
    "SELECT id FROM functions.things WHERE id != 7 -- a comment",
)


def _query(form: str) -> str:
    name, parameters = form.split(") ->")[0].split("(")
    if name in _CONDITIONS:
        return f"SELECT a.id, b.ra FROM functions.things AS a JOIN functions.things AS b ON {_CONDITIONS[name]}"
    arguments = ", ".join(_ARGUMENTS[parameter.split()[1]] for parameter in parameters.split(", "))
    return f"SELECT {_CALLS.get(name, f'{name}({arguments})')} AS answer FROM functions.things"


#: more arguments than declared, because a variable number of arguments cannot be declared
_UNDECLARED = "SELECT greatest(ra, ra, ra, ra, ra, ra, ra) AS answer FROM functions.things"

#: functions of names are declared if tables declare names, or the operator allows the network
FORMS = [form for function in USER_DEFINED if function not in OBJECT_NAME_FUNCTIONS for form in function.signatures]


@pytest.fixture(scope="module")
def functions_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    directory = tmp_path_factory.mktemp("functions")
    queries = [_UNDECLARED, *map(_query, FORMS)]
    examples = [{"name": str(i), "query": query} for i, query in enumerate(queries)]
    table = {"name": "things", "columns": _COLUMNS, "skyhouse:layout": {"position": ["ra", "dec"], "id": ["id"]}}
    schema, rows, data = (directory / name for name in ("functions.yaml", "things.csv", "data"))
    schema.write_text(yaml.safe_dump({"name": "functions", "skyhouse:examples": examples, "tables": [table]}))
    rows.write_text(_ROWS)
    run_skyhouse("load", "--data", str(data), "--table", "functions.things", "--schema", str(schema), str(rows))
    with running_skyhouse("serve", data) as url:
        yield url


def test_topcats_parser_reads_every_declared_function(functions_url: str) -> None:
    """W-EXA-EXVL is an unknown name, or arguments that no declared form accepts."""
    [language] = TAPService(functions_url).get_tap_capability().languages
    assert sorted(f.form for f in language.get_feature_list(_UDF)) == sorted(FORMS)
    arguments = (f"tapurl={functions_url}", "stages=TME CAP EXA", "maxrepeat=1000", "report=EWIF")
    report = run_stilts("taplint", *arguments).stdout.decode()
    assert len(re.findall("^I-EXA-QSUB", report, re.MULTILINE)) > len(FORMS)
    errors = re.findall("^(?:[EF]-|W-EXA-EX).*$", report, re.MULTILINE)
    assert ["s-functions-1:" in error and "greatest" in error for error in errors] == [True], errors


@pytest.mark.parametrize("query", _NEW_IN_2_1)
def test_stilts_parses_what_it_sends(query: str, functions_url: str) -> None:
    result = run_stilts("tapquery", "parse=true", "sync=true", f"tapurl={functions_url}", f"adql={query}", "ofmt=csv")
    assert result.returncode == 0, result.stderr.decode()
    assert len(result.stdout.splitlines()) > 1
