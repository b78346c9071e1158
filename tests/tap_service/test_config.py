"""Settings: read from the environment, validated, and documented."""

from __future__ import annotations

import re
import tomllib
from ipaddress import ip_network
from pathlib import Path

import pytest
from pydantic import ValidationError

from tap_service.config import Config, ConfigError, divide_limits, read_config
from tap_service.constants import VERSION
from tap_service.settings.client_limits import ClientLimit
from tests.support.environment import ROOT


def test_every_setting_is_documented() -> None:
    text = (ROOT / "docs" / "configuration.md").read_text()
    documented = re.findall(r"^### `SKYHOUSE_(\w+)`", text, re.MULTILINE)
    assert documented == [name.upper() for name in Config.model_fields]
    for name, field in Config.model_fields.items():
        assert field.title, name
        assert field.description, name
        assert field.title in text, name
        assert field.description in text, name


def test_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SKYHOUSE_TRUSTED_PROXIES", "10.0.0.0/8, 192.168.1.5")
    monkeypatch.setenv("SKYHOUSE_PUBLIC_URL", "https://example.org/archive/tap/")
    monkeypatch.setenv("SKYHOUSE_SYNC_SECONDS", "2.5")
    config = read_config()
    assert config.trusted_proxies == (ip_network("10.0.0.0/8"), ip_network("192.168.1.5"))
    assert config.public_url == "https://example.org/archive"
    assert config.sync_seconds == 2.5


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"public_url": "example.org"}, "give an absolute address"),
        ({"trusted_proxies": "nonsense"}, "does not appear to be an IPv4 or IPv6"),
        ({"sync_seconds": 0}, "greater than 0"),
        ({"default_maxrec": 10, "hard_maxrec": 5}, "default_maxrec is above hard_maxrec"),
        (
            {"surveys": "https://sky.example.org/a; script-src *"},
            "give an address such as https://example.org/surveys/red",
        ),
        ({"surveys": "ftp://sky.example.org/a"}, "give an address such as https://example.org/surveys/red"),
        ({"unknown": 1}, "Extra inputs are not permitted"),
        ({"clickhouse_url": "ch1:8123"}, "give an address such as http://ch1:8123"),
        ({"clickhouse_url": "http://me:secret@ch1:8123"}, "give only the address"),
        ({"redis_url": "host:6379", "clickhouse_url": "http://ch1:8123"}, "give an address such as redis:"),
        ({"registry": "registry.yaml"}, "registry needs public_url"),
        ({"redis_url": "redis://host:6379/0"}, "redis_url needs clickhouse_url"),
        ({"client_limits": "@survey=16"}, "is not NAME=RUNNING/WAITING or NAME=RUNNING/WAITING/DISK"),
        ({"client_limits": "@survey=16/4/2X"}, "is not NAME=RUNNING/WAITING or NAME=RUNNING/WAITING/DISK"),
        ({"client_limits": "@a b=16/4"}, "@a b is no name of a class"),
        ({"redis_url": "redis://host:6379/0", "clickhouse_url": "http://ch1:8123"}, "redis_url needs results_url"),
    ],
)
def test_wrong_settings(settings: dict, said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        Config(**settings)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("ANONYMUS", "ANONYMOUS"),
        ("ANONYMOUS_USERS", "ANONYMOUS"),
        ("DATA_PATH", "DATA"),
        ("TRUSTED_PROXY", "TRUSTED_PROXIES"),
        ("HARD_MAX_REC", "HARD_MAXREC"),
        ("QUERYLOG", "QUERY_LOG"),
    ],
)
def test_a_misspelt_variable_is_refused(name: str, meant: str) -> None:
    with pytest.raises(ConfigError, match=rf"SKYHOUSE_{name} is not a setting: did you mean SKYHOUSE_{meant}\?"):
        read_config({"SKYHOUSE_CONFIG": "", f"SKYHOUSE_{name}": "false"})


@pytest.mark.parametrize(
    "name",
    [
        *("VERSION", "LISTEN", "LISTEN_TLS"),  # of compose/
        # variables that Kubernetes sets next to a service called skyhouse
        *("SERVICE_HOST", "SERVICE_PORT", "SERVICE_PORT_HTTP"),
        *("PORT_8000_TCP", "PORT_8000_TCP_PROTO", "PORT_8000_TCP_PORT", "PORT_8000_TCP_ADDR"),
        *("ROOT", "IMAGE", "DB_HOST"),
    ],
)
def test_a_variable_like_no_setting_is_ignored_with_one_warning(name: str, caplog: pytest.LogCaptureFixture) -> None:
    environment = {"SKYHOUSE_CONFIG": "", f"SKYHOUSE_{name}": "1"}
    assert read_config(environment) == read_config(environment) == Config()
    assert caplog.messages == [
        f"SKYHOUSE_{name} is ignored: it is not a setting; docs/configuration.md lists the settings"
    ]


def test_other_variables_are_not_looked_at(caplog: pytest.LogCaptureFixture) -> None:
    given = {"SKYHOUSE_DATA": "/data", "SKYHOUSE_CONFIG": "", "OTHER": "x", "MY_SKYHOUSE_PORT": "x"}
    assert read_config(given) == Config(data=Path("/data"))
    assert caplog.messages == []


def test_the_version_is_the_projects() -> None:
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"] == VERSION


def test_an_empty_path_is_none() -> None:
    """``SKYHOUSE_ACCOUNTS=`` in a file of variables leaves the default; an empty text is a value of other settings."""
    given = {"SKYHOUSE_CONFIG": "", "SKYHOUSE_ACCOUNTS": "", "SKYHOUSE_DATA": "", "SKYHOUSE_QUERY_LOG": ""}
    config = read_config(given)
    assert (config.accounts, config.data, config.query_log) == (None, Config().data, "")


def test_all_problems_of_the_environment_are_reported() -> None:
    given = {"SKYHOUSE_CONFIG": "", "SKYHOUSE_ANONYMUS": "", "SKYHOUSE_PORT": "0", "SKYHOUSE_PUBLIC_URL": "x"}
    with pytest.raises(ConfigError) as caught:
        read_config(given)
    assert [problem.split()[0] for problem in caught.value.problems] == [
        "SKYHOUSE_ANONYMUS",
        "SKYHOUSE_PORT",
        "SKYHOUSE_PUBLIC_URL",
    ]
    with pytest.raises(ConfigError, match="the settings do not fit together: default_maxrec is above hard_maxrec"):
        read_config({"SKYHOUSE_CONFIG": "", "SKYHOUSE_DEFAULT_MAXREC": "10", "SKYHOUSE_HARD_MAXREC": "5"})


def test_processes_divide_the_limits() -> None:
    """Each process gets a part, rounded up, also of the limits of single clients."""
    config = divide_limits(Config(waiting_queries=500, max_connections=4001, client_limits="ann=16/401/8G, bob=1/0"), 4)
    assert (config.waiting_queries, config.max_connections) == (125, 1001)
    assert config.client_limits == {"ann": ClientLimit(4, 101, 8 << 30), "bob": ClientLimit(1, 0)}
