"""The settings of the service, as its commands see them."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from loaders.errors import LoadError
from tap_service.config import Config
from tap_service.storage.accounts import ACCOUNTS_FILE


def settings(data_path: Path) -> Config:
    """From the environment, with the data path where they name no other place. Raises LoadError."""
    try:
        config = Config.model_validate({})
    except ValidationError as error:
        first = error.errors()[0]
        name = "SKYHOUSE_" + "_".join(str(part) for part in first["loc"]).upper()
        raise LoadError(f"the setting {name} cannot be used: {first['msg']}") from error
    places = {"accounts": data_path / ACCOUNTS_FILE, "jobs_path": data_path / "jobs"}
    return config.model_copy(update={name: path for name, path in places.items() if not getattr(config, name)})
