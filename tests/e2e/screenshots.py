"""Screenshots of the portal."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page

from tests.support.environment import ROOT

_SHOTS = ROOT / "build" / "screenshots"

Shot = Callable[[Page, str], Path]


def save_screenshot(page: Page, name: str) -> Path:
    """Save a screenshot under a name chosen by the test."""
    _SHOTS.mkdir(parents=True, exist_ok=True)
    path = _SHOTS / f"{name}.png"
    page.screenshot(path=path)
    return path
