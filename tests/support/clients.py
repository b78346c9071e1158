"""Clients of the service, with the limits of the default settings."""

from __future__ import annotations

from tap_service.config import Config
from tap_service.models.client import Client
from tap_service.services.client_directory import ClientDirectory


def make_client(name: str | None = None, address: str = "192.0.2.1", **settings: object) -> Client:
    """Return a user, or the anonymous client at an address."""
    return ClientDirectory(Config(**settings), None).find_client(address, name)
