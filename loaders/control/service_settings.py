"""The settings of the service, as its commands read them."""

from __future__ import annotations

from pathlib import Path

from loaders.load_error import LoadError
from tap_service.config import Config, ConfigError, read_config
from tap_service.constants import ACCOUNTS_FILE, BLOCKED_FILE, REGISTRY_FILE, USAGE_FILE


def read_settings(data_path: Path) -> Config:
    """Read the settings of the service from the environment and the settings file.

    Parameters
    ----------
    data_path : Path
        Data directory.

    Returns
    -------
    Config
        The settings with this data directory, and unset paths below it.

    Raises
    ------
    LoadError
        A setting is not valid; the message has all problems.
    """
    try:
        return complete_paths(read_config(), data_path)
    except ConfigError as error:
        raise LoadError("\n".join(error.problems)) from error


def complete_paths(config: Config, data_path: Path) -> Config:
    """Return the settings with a data directory, and unset paths below it.

    Parameters
    ----------
    config : Config
        Settings.
    data_path : Path
        Data directory, which need not exist.

    Returns
    -------
    Config
        A copy.
    """
    defaults = {
        "attach_cache": data_path / "attached",
        "accounts": data_path / ACCOUNTS_FILE,
        "blocked": data_path / BLOCKED_FILE,
        "hats_path": data_path / "hats",
        "jobs_path": data_path / "jobs",
        "registry_state": data_path / REGISTRY_FILE,
        "usage": data_path / USAGE_FILE,
    }
    unset = {name: path for name, path in defaults.items() if not getattr(config, name)}
    return config.model_copy(update={"data": data_path, **unset})
