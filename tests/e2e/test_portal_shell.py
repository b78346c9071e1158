"""The frame of the portal: its pages, its policy, its size, on a laptop, a phone and behind a proxy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

PAGES = ("query", "tables", "examples", "jobs", "uploads")


@pytest.mark.parametrize("name", PAGES)
def test_each_page(
    page: Page, portal_url: str, name: str, shot: Callable[[Page, str], Path], accessible: Callable[[Page], None]
) -> None:
    page.goto(f"{portal_url}#/{name}")
    expect(page.get_by_role("navigation", name="Pages").locator("[aria-current=page]")).to_have_count(1)
    page.wait_for_load_state("networkidle")
    shot(page, f"shell-{name}")
    accessible(page)
