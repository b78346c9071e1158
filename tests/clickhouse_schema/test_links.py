"""LINKs and services in schema files: reading, errors with lines, and writing without loss."""

from __future__ import annotations

import re
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clickhouse_schema.column_links import Link
from clickhouse_schema.schema_files.yaml_reader import read_schema
from clickhouse_schema.schema_files.yaml_writer import schema_to_yaml
from clickhouse_schema.schema_model import Schema
from clickhouse_schema.schema_problem import SchemaError

GOOD = """\
name: s
tables:
- name: obs
  columns:
  - name: did
    datatype: string
    skyhouse:links:
    - {href: "https://archive.example.org/o/${did}?s=${two words}", content-role: doc, content-type: text/html,
       title: "Page of the observation", value: x}
    - href: HTTP://[2001:db8::1]:8080/%C3%A9#top
  - {name: two words, datatype: long}
  - {name: shape, datatype: double, "votable:arraysize": "*"}
  skyhouse:services:
  - name: links
    description: |
      Files of the observation,
      and previews
    standardID: ivo://ivoa.net/std/DataLink#links-1.1
    resourceIdentifier: ivo://archive.example.org/datalink
    accessURL: https://archive.example.org/links?MODE=fast
    contentType: application/x-votable+xml;content=datalink
    exampleURL: https://archive.example.org/links?ID=1
    inputParams:
    - {name: ID, ref: did, description: The observation}
    - {name: RESPONSEFORMAT, value: votable}
    - {name: BAND, datatype: double, "votable:arraysize": "2", "votable:xtype": interval, ivoa:unit: m,
       ivoa:ucd: em.wl, votable:utype: "ssa:x", min: 1.0e-7, max: 1}
    - {name: COUNT, datatype: int, min: 1, max: 20}
    - {name: CALIB, options: [RELATIVE, "größe"]}
  - {name: page, accessURL: "http://archive.example.org:80", inputParams: [{name: n, ref: two words}]}
"""


def test_good() -> None:
    schema, warnings = read_schema(GOOD, "f.yaml", strict=True)
    assert warnings == []
    [table] = schema.tables
    links = table.get_column("did").links
    assert [link.columns for link in links] == [("did", "two words"), ()]
    assert links[0].rename_href_columns({"did": "a", "two words": "b"}) == "https://archive.example.org/o/${a}?s=${b}"
    first, second = table.services
    assert (first.columns, second.columns) == (("did",), ("two words",))
    kinds = [param.type for param in first.input_params[1:]]
    assert [(kind.datatype, kind.arraysize, kind.xtype) for kind in kinds] == [
        ("char", "*", ""),
        ("double", "2", "interval"),
        ("int", "", ""),
        ("unicodeChar", "*", ""),
    ]
    assert read_schema(schema_to_yaml(schema), "written.yaml", strict=True) == (schema, [])
    for by_alias, exclude_defaults in product((True, False), repeat=2):
        document = schema.model_dump_json(by_alias=by_alias, exclude_defaults=exclude_defaults)
        assert Schema.model_validate_json(document) == schema


DECLARED = """\
name: s
tables:
- name: t
  columns:
  - {name: v, datatype: double, "votable:arraysize": "3"}
  - name: c
    datatype: string
    skyhouse:links: [LINK]
  skyhouse:services: [SERVICE]
"""
LINK = '{href: "http://a"}'
SERVICE = '{name: n, accessURL: "http://a", inputParams: [{name: ID, ref: c}]}'


def errors_of(link: str = LINK, service: str = SERVICE) -> tuple[str, ...]:
    with pytest.raises(SchemaError) as caught:
        read_schema(DECLARED.replace("LINK", link).replace("SERVICE", service), "f.yaml", strict=True)
    return caught.value.errors


def inputs(said: str) -> str:
    return SERVICE.replace("{name: ID, ref: c}", said)


def test_the_sample_is_good() -> None:
    assert read_schema(DECLARED.replace("LINK", LINK).replace("SERVICE", SERVICE), "f.yaml", strict=True)[1] == []


@pytest.mark.parametrize(
    ("link", "said"),
    [
        ("{title: x}", "the key 'href' is missing"),
        ('{href: ""}', "href '' is not a URL: write http:// or https://, a host"),
        ('{href: "http://a", rel: x}', "unknown key 'rel': known keys are href, content-role"),
        ('{href: "http://a", content-rol: doc}', "unknown key 'content-rol': did you mean 'content-role'?"),
        ('{href: "http://a", content-role: next}', "content-role must be '', 'doc'"),
        ('{href: "http://a", content-type: html}', "content-type 'html' is not a media type"),
        ('{href: "http://a", title: "a\\nb"}', "title 'a\\nb' has a control character"),
        ('{href: "http://a", value: "\\x7f"}', "value '\\x7f' has a control character"),
        ('{href: "http://a", value: 1}', "value must be text: put it in quotes"),
        ('{href: "http://a/${C}"}', "the table t has no column C: did you mean c?"),
        ('{href: "http://a/${}"}', "the table t has no column "),
        ('{href: "http://a/${v}"}', "the column v is an array: a link takes numbers and texts"),
        ("x", "skyhouse:links must be a mapping"),
    ],
)
def test_wrong_links_are_rejected(link: str, said: str) -> None:
    errors = errors_of(link=link)
    assert any(error.startswith(f"f.yaml:8: {said}") for error in errors), errors


@pytest.mark.parametrize(
    "url",
    [
        "ftp://a/b",
        "javascript:alert(1)",
        "//a/b",
        "a/b",
        "${c}",
        "http${c}://a",
        "http://${c}/x",
        "http://a${c}/x",
        "http://a:${c}/x",
        "http://user:secret@a/",
        "http://a b/",
        "http://a/b c",
        "http://a/é",
        "http://a/%zz",
        "http://a/${c",
        "http://a/$${{c}}",
        "http://a/%${c}41",
        "http://a/<b>",
        'http://a/\\"',
        "http://a/\\\\",
        "http://a/\\nb",
        "http://a/\\u2028b",
        "http:///b",
    ],
)
def test_wrong_addresses_are_rejected(url: str) -> None:
    assert re.fullmatch(
        r"f\.yaml:8: href .* (is not a URL: write http.*|has a control character: .*)", *errors_of(f'{{href: "{url}"}}')
    )
    plain = SERVICE.replace("http://a", url)
    assert re.fullmatch(r"f\.yaml:9: accessURL .* is not a URL: write http.*", *errors_of(service=plain))


@pytest.mark.parametrize(
    ("service", "said"),
    [
        ("{name: n, inputParams: [{name: ID, ref: c}]}", "the key 'accessURL' is missing"),
        ('{name: n, accessURL: "http://a"}', "the key 'inputParams' is missing"),
        (inputs(""), "inputParams must have at least one entry"),
        (SERVICE.replace("http://a", "http://a/#x"), "accessURL 'http://a/#x' is not a URL that parameters"),
        (
            SERVICE.replace("name: n", "name: n, standardID: DataLink"),
            "standardID 'DataLink' is not an IVOA identifier",
        ),
        (SERVICE.replace("name: n", "name: n, resourceIdentifier: 'http://a'"), "resourceIdentifier 'http://a' is no"),
        (SERVICE.replace("name: n", "name: n, contentType: 'text'"), "contentType 'text' is not a media type"),
        (SERVICE.replace("name: n", "name: n, exampleURL: 'file:///etc'"), "exampleURL 'file:///etc' is not a URL"),
        (SERVICE.replace("name: n", "name: n, standardId: x"), "unknown key 'standardId': did you mean 'standardID'?"),
        (SERVICE.replace("name: n", 'name: "a\\tb"'), "name 'a\\tb' has a control character"),
        (f"{SERVICE}, {SERVICE.replace('name: n', 'name: N')}", "the service N occurs twice (as n;"),
        (inputs("{name: ID, ref: d}"), "the table t has no column d"),
        (inputs("{name: ID, ref: c}, {name: id, value: x}"), "the parameter id occurs twice (as ID;"),
        (inputs("{name: ID, ref: c, value: x}"), "the parameter ID has ref, a column, and value, a constant"),
        (
            inputs("{name: ID, value: x, votable:xtype: y}"),
            "the parameter ID is not an input of the user: remove votable:xtype",
        ),
        (inputs("{name: ID, ref: c, min: 1, max: 2}"), "the parameter ID is not an input of the user: remove max, min"),
        (inputs("{name: B, min: 1}"), "the parameter B is not a number: min and max are for numbers"),
        (inputs("{name: B, datatype: int, max: 1.5}"), "the parameter B takes whole numbers"),
        (inputs("{name: B, datatype: double, max: .inf}"), "max must be a finite number"),
        (inputs("{name: B, datatype: double, options: [a]}"), "the parameter B is not text: options are for texts"),
        (inputs('{name: B, options: [""]}'), "is empty: give a text"),
        (inputs("{name: B, options: [1]}"), "options must be text: put it in quotes"),
        (inputs("{name: B, datatype: lon}"), "datatype 'lon' is not a datatype: use one of boolean"),
        (inputs("{name: B, datatype: double, ivoa:unit: km/s}"), "ivoa:unit 'km/s' is not a VOUnit: write km.s**-1"),
        (
            inputs("{name: B, datatype: double, ivoa:unit: furlong}"),
            "ivoa:unit 'furlong' is not a VOUnit: write one such as",
        ),
        (inputs("{name: B, ivoa:ucd: POS_EQ}"), "ivoa:ucd 'POS_EQ' is a UCD1 from before 2005"),
        (inputs("{name: B, value: 1.5}"), "value must be text: put it in quotes"),
    ],
)
def test_wrong_services_are_rejected(service: str, said: str) -> None:
    errors = errors_of(service=service)
    assert any(error.startswith(f"f.yaml:9: {said}") for error in errors), errors


def test_a_long_address_is_checked_in_no_time() -> None:
    """No pattern is tried in more than one way: a second attempt would take a thousand times as long."""
    for character in ("%", "$", "${a}", "a", ";a=b", "/"):
        Link.model_validate({"href": "http://a/" + "${a}" * 20_000})
        with pytest.raises(ValueError, match="is not a URL"):
            Link.model_validate({"href": "http://a/" + character * 20_000 + " "})


_LINES = GOOD.splitlines()
_VALUE_LINES = [i for i, line in enumerate(_LINES) if i > 4 and ": " in line]
_VALUES = [
    "",
    "{}",
    "[]",
    "[{}]",
    "[x]",
    "1",
    "-1.5",
    "true",
    "null",
    "x",
    '"a\\0b"',
    "'",
    "{name: did}",
    ".nan",
    "${did}",
]


@given(st.lists(st.tuples(st.sampled_from(_VALUE_LINES), st.sampled_from(_VALUES)), min_size=1, max_size=3))
@settings(deadline=None)
def test_any_value_anywhere_is_read_or_reported(changes: list[tuple[int, str]]) -> None:
    lines = list(_LINES)
    for number, value in changes:
        lines[number] = lines[number].partition(":")[0] + ": " + value
    try:
        schema, _ = read_schema("\n".join(lines), "f.yaml")
    except SchemaError as error:
        lost = [line for line in error.errors if not line.startswith("f.yaml:")]
        assert lost == []
    else:
        assert read_schema(schema_to_yaml(schema), "f.yaml")[0] == schema
