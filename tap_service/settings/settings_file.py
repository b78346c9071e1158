"""The settings file: flat keys in TOML, the names of the settings in lower case."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import SecretStr

FILE_VARIABLE = "SKYHOUSE_CONFIG"

#: read if the variable is not set, and if the file exists
DEFAULT_FILE = Path("/etc/skyhouse.toml")

#: of each read, write and search
_OTHERS = 0o007

_PASSWORD_IN_URL = re.compile(r"(?<=://)([^/@]*):[^/@]+(?=@)")


class SettingsFileError(Exception):
    """The file cannot be read; the message names the file and the remedy."""


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """What a settings file says, not yet validated.

    Attributes
    ----------
    path : Path
        The file.
    values : Mapping of str to Any
        The values as TOML has them, except that an array of texts is one text with commas.
    lines : Mapping of str to int
        The line of each key, from 1.
    """

    path: Path
    values: Mapping[str, Any]
    lines: Mapping[str, int]

    def locate_key(self, key: str) -> str:
        """Return the location of a value, for messages.

        Parameters
        ----------
        key : str
            A setting.

        Returns
        -------
        str
            The path with the line, or the path alone for a setting that is not in the file.
        """
        line = self.lines.get(key)
        return f"{self.path}, line {line}" if line else str(self.path)


def find_settings_file(environment: Mapping[str, str]) -> Path | None:
    """Find the settings file.

    Parameters
    ----------
    environment : mapping of str to str
        The environment variables.

    Returns
    -------
    Path or None
        The file that the environment names, which may not exist; otherwise /etc/skyhouse.toml if it exists. None for no
        file, also if the environment names an empty path.
    """
    named = environment.get(FILE_VARIABLE)
    if named is not None:
        return Path(named) if named else None
    return DEFAULT_FILE if DEFAULT_FILE.exists() else None


def read_settings_file(path: Path) -> SettingsFile:
    """Read a file.

    Raises
    ------
    SettingsFileError
        It is not there or is not TOML, or it has a password that all users of the machine can read.
    """
    try:
        text, mode = path.read_text(encoding="utf-8"), path.stat().st_mode
        values = {key: _join_array(value) for key, value in tomllib.loads(text).items()}
    except PermissionError as error:
        raise SettingsFileError(
            f"{path} cannot be read by this user: run the command as the user of the service, "
            "such as runuser --user skyhouse -- skyhouse ..."
        ) from error
    except OSError as error:
        raise SettingsFileError(
            f"{path} cannot be read: {error.strerror}. --config or {FILE_VARIABLE} names the settings file"
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsFileError(f"{path} is not TOML: {error}. A line is KEY = VALUE, with texts in quotes") from error
    file = SettingsFile(path, values, _find_lines(text, values))
    secret = next((key for key, value in values.items() if has_secret(key, value)), None)
    if secret and mode & _OTHERS:
        raise SettingsFileError(
            f"{file.locate_key(secret)}: {secret} has a password, and every user of this machine can read the file: "
            f"chmod o= {path}"
        )
    return file


def has_secret(key: str, value: Any) -> bool:
    """Whether a value must not be shown: a password, or an address with one."""
    return bool(mask_secrets(key, value) != value)


def mask_secrets(key: str, value: Any) -> Any:
    """Hide the password in a value of a setting.

    Parameters
    ----------
    key : str
        The setting.
    value : Any
        Its value: text or SecretStr; other values are returned unchanged.

    Returns
    -------
    Any
        The text with asterisks instead of a password, also of a password within a URL.
    """
    if isinstance(value, SecretStr):
        value = value.get_secret_value()
    if not isinstance(value, str):
        return value
    if key.endswith("password"):
        return "*" * 8 if value else ""
    return _PASSWORD_IN_URL.sub(rf"\1:{'*' * 8}", value)


def format_toml_value(value: Any) -> str:
    """Write the value of a setting as TOML.

    Parameters
    ----------
    value : Any
        The value. None is an empty text; secrets are written as they are.

    Returns
    -------
    str
        The text after ``=``.
    """
    if isinstance(value, SecretStr):
        value = value.get_secret_value()
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    if isinstance(value, Mapping):
        value = [f"{name}={limit}" for name, limit in value.items()]
    if isinstance(value, tuple | list):
        return f"[{', '.join(format_toml_value(str(part)) for part in value)}]"
    return json.dumps("" if value is None else str(value), ensure_ascii=False).replace("\x7f", "\\u007f")


def _join_array(value: Any) -> Any:
    """Return an array of texts as one text with commas, as environment variables have it."""
    is_array = isinstance(value, list) and all(isinstance(part, str) for part in value)
    return ", ".join(value) if is_array else value


def _find_lines(text: str, keys: Mapping[str, Any]) -> dict[str, int]:
    """Return the first line on which each key has its value, or its table begins."""
    found: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        match = re.match(r"""\s*\[*\s*["']?([\w-]+)["']?\s*[=.\]]""", line)
        if match and match[1] in keys:
            found.setdefault(match[1], number)
    return found
