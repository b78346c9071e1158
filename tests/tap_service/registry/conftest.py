"""A service whose registry metadata has so many collections that their records need two pages."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.registry_file import write_registry_file
from tests.support.running_service import RunningService
from tests.tap_service.registry.running_registry import Registry


@pytest.fixture(scope="module")
def serve_registry(
    serve: Callable[..., RunningService], counted_stars: None, tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., Registry]:
    """Start a service with these settings and a registry."""

    def start(file: Path | None = None, state: Path | None = None, **settings: Any) -> Registry:
        folder = tmp_path_factory.mktemp("registry")
        file = file or write_registry_file(folder / "registry.yaml")
        state = state or folder / "registry.sqlite"
        served = serve(registry=file, registry_state=state, public_url="https://example.org/sky", **settings)
        return Registry(served, file, state)

    return start


@pytest.fixture(scope="module")
def registry(serve_registry: Callable[..., Registry]) -> Registry:
    return serve_registry()
