"""The settings file: valid contents, what overrides it, and what is refused."""

from __future__ import annotations

from ipaddress import ip_network
from pathlib import Path

import pytest

from loaders.installation.settings_template import write_template
from tap_service.config import Config, ConfigError, read_config, read_sources
from tap_service.settings.client_limits import ClientLimit
from tap_service.settings.settings_file import DEFAULT_FILE, find_settings_file, format_toml_value, mask_secrets


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "skyhouse.toml"


def read(file: Path, text: str, **variables: str) -> Config:
    file.write_text(text, encoding="utf-8")
    return read_config({"SKYHOUSE_CONFIG": str(file), **variables})


def errors(file: Path, text: str, **variables: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        read(file, text, **variables)
    return caught.value.problems


def test_values_have_the_types_of_toml(file: Path) -> None:
    config = read(
        file,
        'title = "Sternwarte Göttingen"\nanonymous = false\nsync_seconds = 30\nport = 9000\ndata = "/var/lib/skyhouse"\n'
        'trusted_proxies = ["127.0.0.1", "10.0.0.0/8"]\nupload_hosts = "a.example, B.example"\n'
        'client_limits = ["@anonymous=2/20", "alice=16/400"]\n',
    )
    assert (config.title, config.anonymous, config.sync_seconds, config.port) == (
        "Sternwarte Göttingen",
        False,
        30,
        9000,
    )
    assert config.data == Path("/var/lib/skyhouse")
    assert config.trusted_proxies == (ip_network("127.0.0.1"), ip_network("10.0.0.0/8"))
    assert config.upload_hosts == ("a.example", "b.example")
    assert config.client_limits == {"@anonymous": ClientLimit(2, 20), "alice": ClientLimit(16, 400)}


def test_the_environment_overrides_the_file(file: Path) -> None:
    config = read(file, 'title = "file"\ncontact = "file"\n', SKYHOUSE_TITLE="environment")
    assert (config.title, config.contact, config.description) == ("environment", "file", Config().description)
    sources = read_sources({"SKYHOUSE_CONFIG": str(file), "SKYHOUSE_TITLE": "environment"})
    assert sources.locate_setting("title") == "SKYHOUSE_TITLE"
    assert sources.locate_setting("contact") == f"{file}, line 2"
    assert sources.locate_setting("description") == "default"


def test_all_problems_have_their_lines(file: Path) -> None:
    assert errors(
        file,
        '# a comment\nanonymus = false\n\nport = 70000\npublic_url = "example.org"\nxyzzy = 1\n[queries]\nsync_seconds = 3\n',
        SKYHOUSE_HARD_MAXREC="many",
    ) == [
        f"{file}, line 2: anonymus is not a setting: did you mean anonymous?",
        f"{file}, line 6: xyzzy is not a setting; docs/configuration.md lists the settings",
        f"{file}, line 7: [queries] is a table; write settings as KEY = VALUE, before any table",
        f"{file}, line 4: port cannot be used: Input should be less than or equal to 65535",
        f"{file}, line 5: public_url cannot be used: give an absolute address such as https://example.org/archive",
        "SKYHOUSE_HARD_MAXREC cannot be used: Input should be a valid integer, unable to parse string as an integer",
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "title = Skyhouse\n",
            "is not TOML: Invalid value (at line 1, column 9). A line is KEY = VALUE, with texts in quotes",
        ),
        ('title = "a"\ntitle = "b"\n', "is not TOML: Cannot overwrite a value"),
    ],
)
def test_what_is_not_toml(file: Path, text: str, said: str) -> None:
    assert said in errors(file, text)[0]


def test_a_file_that_is_named_must_be_there(file: Path) -> None:
    with pytest.raises(ConfigError, match=r"cannot be read: No such file.*--config or SKYHOUSE_CONFIG names"):
        read_config({"SKYHOUSE_CONFIG": str(file)})
    assert find_settings_file({"SKYHOUSE_CONFIG": ""}) is None
    assert find_settings_file({}) == (DEFAULT_FILE if DEFAULT_FILE.exists() else None)


@pytest.mark.parametrize(
    "line",
    ['clickhouse_password = "secret"', 'redis_url = "redis://:secret@r1:6379/0"', 'redis_url = "rediss://u:s@r1/0"'],
)
def test_passwords_are_for_the_group_at_most(file: Path, line: str) -> None:
    text = f'clickhouse_url = "http://ch1:8123"\nresults_url = "/shared"\n{line}\n'
    file.touch()
    file.chmod(0o644)
    key = line.split()[0]
    (said,) = errors(file, text)
    assert said == (
        f"{file}, line 3: {key} has a password, and every user of this machine can read the file: chmod o= {file}"
    )
    file.chmod(0o640)
    assert read(file, text)
    file.chmod(0o644)
    assert read(file, text.replace(line, 'redis_url = "redis://r1:6379/0"'))


def test_passwords_are_masked(file: Path) -> None:
    assert mask_secrets("redis_url", "redis://me:secret@r1:6379/0") == "redis://me:********@r1:6379/0"
    assert mask_secrets("redis_url", "redis://r1:6379/0") == "redis://r1:6379/0"
    assert mask_secrets("clickhouse_password", Config(clickhouse_password="secret").clickhouse_password) == "********"
    assert mask_secrets("clickhouse_password", Config().clickhouse_password) == ""


def test_the_template_has_all_settings_with_their_defaults(file: Path) -> None:
    template = write_template()
    assert read(file, template) == Config()
    settings = [line.removeprefix("#") for line in template.splitlines() if line.startswith("#") and line[1] != " "]
    assert [line.split(" = ")[0] for line in settings] == list(Config.model_fields)
    assert read(file, "\n".join(settings)) == Config()
    assert len(read_sources({"SKYHOUSE_CONFIG": str(file)}).values) == len(Config.model_fields)


@pytest.mark.parametrize("text", ['a "b" \\ c', "line\nline", "\x7f\x01", "Ω"])
def test_texts_are_written_as_toml(file: Path, text: str) -> None:
    assert read(file, f"title = {format_toml_value(text)}\n").title == text
