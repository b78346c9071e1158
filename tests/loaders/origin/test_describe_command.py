"""``skyhouse describe`` with addresses of TAP services, and commands that use its output."""

from __future__ import annotations

from pathlib import Path

import pytest

from loaders.origin.origin_client import OriginClient
from loaders.origin.origin_error import OriginError
from loaders.origin.tap_address import find_tap_service
from tests.loaders.origin import dialects
from tests.loaders.origin.origin_server import Origin, Reply
from tests.loaders.test_cli import skyhouse

_CAPABILITIES = b'<c:capabilities xmlns:c="x"><capability standardID="ivo://ivoa.net/std/TAP"/></c:capabilities>'


def test_the_schema_file_is_applied_and_loaded_as_it_is(origin: Origin, tmp_path: Path) -> None:
    origin.publish(dialects.GAIA)
    code, text, err = skyhouse(tmp_path, "describe", origin.tap, "--table", "gaiadr3.gaia_source")
    assert (code, text.splitlines()[0]) == (
        0, f"# gaiadr3.gaia_source of {origin.tap}, from its tables",
    ), err  # fmt: skip
    (tmp_path / "g.yaml").write_text(text)
    code, _, err = skyhouse(tmp_path, "schema", "apply", "g.yaml")
    assert code == 0, err
    (tmp_path / "g.csv").write_text(
        "solution_id,source_id,ra,dec,phot_g_mean_flux,flags,cov\n1636148068921376768,4295806720,44.99,0.005,1.5,NOT,\n"
    )
    code, _, err = skyhouse(
        tmp_path, "load", "g.csv", "--table", "gaiadr3.gaia_source", "--schema", "g.yaml", "--append"
    )
    assert code == 0, err
    code, said, _ = skyhouse(tmp_path, "verify", "gaiadr3.gaia_source")
    assert (code, "gaiadr3.gaia_source" in said) == (0, True)


def test_another_name_and_a_column_that_is_left_out(origin: Origin, tmp_path: Path) -> None:
    origin.publish(dialects.VOLLT)
    arguments = ("describe", f"tap+{origin.tap}/", "--table", "hip.main", "--as", "stars.bright")
    code, text, err = skyhouse(tmp_path, *arguments)
    assert code == 0, err
    assert "# stars.bright here\nname: stars\n" in text
    assert "warning: image is left out because it cannot be loaded: its datatype 'BLOB' is not valid in VOTable" in err


def test_errors_are_reported(origin: Origin, tmp_path: Path) -> None:
    code, out, err = skyhouse(tmp_path, "describe", origin.url, "--table", "a.b")
    assert (code, out) == (1, "")
    assert f"It does not answer as a TAP service either: write tap+{origin.url} if it is one" in err
    (tmp_path / "t.csv").write_text("a\n1\n")
    code, out, err = skyhouse(tmp_path, "describe", "t.csv", "--as", "a.b")
    assert (code, err) == (
        1,
        "error: t.csv is not a TAP service, and --as is only for TAP services: name the table with --table\n",
    )
    code, out, err = skyhouse(tmp_path, "describe", f"tap+{origin.tap}")
    assert (code, err) == (
        1, f"error: --table names the table of {origin.tap} to describe, for example --table gaiadr3.gaia_source\n",
    )  # fmt: skip


def test_capabilities_or_tables_make_a_tap_service(origin: Origin, client: OriginClient) -> None:
    assert find_tap_service(client, origin.tap) == ""
    origin.publish(dialects.DACHS)
    assert find_tap_service(client, f"{origin.tap}/") == origin.tap
    origin.answers = {"/x/capabilities": Reply(_CAPABILITIES)}
    assert find_tap_service(client, f"{origin.url}/x") == f"{origin.url}/x"
    origin.answers = {"/x/capabilities": Reply(_CAPABILITIES.replace(b"TAP", b"SIA"))}
    assert find_tap_service(client, f"{origin.url}/x") == ""


@pytest.mark.parametrize("text", ["hats://host/x", "s3://bucket/x", "stars.csv", "/data/hats"])
def test_addresses_that_are_not_tap_services(client: OriginClient, text: str) -> None:
    assert find_tap_service(client, text) == ""


@pytest.mark.parametrize("text", ["tap+ftp://host/tap", "tap+https://me:secret@host/tap", "tap+https://host/tap?x=1"])
def test_addresses_that_are_rejected(client: OriginClient, text: str) -> None:
    with pytest.raises(OriginError):
        find_tap_service(client, text)
