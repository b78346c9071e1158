"""The file of registry metadata: problems with their lines, and the shipped example."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from loaders.cli.skyhouse_command import app
from loaders.control.registry_check import check_registry
from tap_service.models.registry_metadata import Collection, Contact, RegistryMetadata, ServiceMetadata
from tap_service.services.registry.registry_file import RegistryFileError, parse_registry_file, read_registry_file
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tests.loaders.recorder import Recorder
from tests.support.environment import ROOT

DOCS = ROOT / "docs"
EXAMPLE = DOCS / "registry-example.yaml"


def test_the_example_is_valid() -> None:
    metadata = read_registry_file(EXAMPLE)
    assert metadata.make_identifier(metadata.service.id) == "ivo://stars.example.org/tap"
    assert [collection.table_schema for collection in metadata.collections] == ["tycho2", "openngc"]


def test_every_key_is_documented() -> None:
    documented = set(re.findall(r"^\| `(\w+)` \|", (DOCS / "registry.md").read_text(), re.MULTILINE))
    models = (RegistryMetadata, ServiceMetadata, Collection, Contact)
    fields = [field.serialization_alias or name for model in models for name, field in model.model_fields.items()]
    assert documented == set(fields)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("authority: stars.example.org", "authority: a b", r"f:2: authority 'a b' is not an authority: write"),
        ("authority: stars.example.org\n", "", r"f:2: the key 'authority' is missing"),
        ("publisher: ", "publischer: ", r"f:3: unknown key 'publischer': did you mean 'publisher'\?"),
        ("data@example.org", "nobody", r"f:6: email 'nobody' is not a mail address"),
        ("created: 2026-11-23", "created: 2026-13-01", r"f:10: created '2026-13-01' is not a day: write it as"),
        ("https://stars.example.org/", "stars", r"f:11: reference_url 'stars' is not a web address"),
        ("virtual-observatories,", "Big Stars,", r"f:12: subjects 'Big Stars' is not a term of the Unified"),
        ("[Research]", "[Everyone]", r"f:14: content_levels must be 'General'"),
        ("2000A&A...355L..27H", "Høg 2000", r"source 'Høg 2000' is not a bibcode: write its 19 characters"),
        ("[47892.0, 49063.0]", "[49063.0, 47892.0]", r"temporal must be two MJDs, the earlier first"),
        ("[47892.0, 49063.0]", "[1.0]", r"temporal has too few entries: it needs at least 2"),
        ("[47892.0, 49063.0]", "[1.0, x]", r"temporal must be a number"),
        ("id: openngc/objects", "id: tycho2", r"two records have the id 'tycho2'"),
        ("id: openngc/objects", "id: registry", r"two records have the id 'registry'"),
        ("Tycho-2 bright", "A name that is too long", r"short_name is too long: it may have at most 16"),
        ("  - Example Observatory\n", "  - &a Example Observatory\n", r"f:9: YAML anchors and aliases"),
    ],
)
def test_problems_have_lines(old: str, new: str, said: str) -> None:
    text = EXAMPLE.read_text()
    assert old in text
    with pytest.raises(RegistryFileError, match=said):
        parse_registry_file(text.replace(old, new, 1), "f")


@pytest.mark.parametrize("text", ["", "- a", "a: [}", "just text"])
def test_other_files_are_refused(text: str) -> None:
    with pytest.raises(RegistryFileError, match="f:1: "):
        parse_registry_file(text, "f")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(RegistryFileError, match="cannot be read: No such file"):
        read_registry_file(tmp_path / "none")
    (tmp_path / "latin").write_bytes(b"publisher: \xe9")
    with pytest.raises(RegistryFileError, match="not UTF-8: save the file as UTF-8"):
        read_registry_file(tmp_path / "latin")


def test_the_command_reports_all_problems(tmp_path: Path) -> None:
    file = tmp_path / "registry.yaml"
    file.write_text("authority: x.org\nsubjects: [UPPER]\n")
    ran = CliRunner().invoke(app, ["registry", "check", str(file), "--data", str(tmp_path)])
    assert ran.exit_code == 1
    assert f"{file}:1: the key 'contact' is missing" in ran.stderr
    assert f"{file}:2: subjects 'UPPER' is not a term" in ran.stderr


def test_the_command_lists_records_and_missing_tables(svc_engine: EmbeddedEngine, tmp_path: Path) -> None:
    text = EXAMPLE.read_text().replace("schema: tycho2", "schema: svc").replace("schema: openngc", "schema: nowhere")
    text = text.replace("[objects]", "[objects, more]")
    reporter = Recorder()
    check_registry(svc_engine, text, "f", tmp_path, False, reporter)
    identifiers = [line.split()[0] for line in reporter.lines]
    assert "ivo://stars.example.org/scs/svc.stars" in identifiers
    assert [identifier for identifier in identifiers if "/scs/" not in identifier] == [
        "ivo://stars.example.org/registry",
        "ivo://stars.example.org",
        "ivo://stars.example.org/tap",
        "ivo://stars.example.org/tycho2",
    ]
    assert any("SKYHOUSE_PUBLIC_URL is not set" in said for said in reporter.messages)
    assert [said for said in reporter.messages if "collection" in said] == [
        f"warning: collection openngc/objects: there is no table nowhere.{name}, so it has no record"
        for name in ("objects", "more")
    ]
