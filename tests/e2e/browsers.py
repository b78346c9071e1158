"""The browsers that show the portal."""

from __future__ import annotations

import asyncio
import shlex
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cached_property
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Playwright

from tests.support.environment import ROOT
from tests.support.ports import free_port

SAMP_HOSTS = ("127.0.0.1:21012", "localhost:21012")

BROWSERS = ("chromium", "chromium-browser", "google-chrome")

#: Chromium without windows takes a third of the processor time, but has no notifications
_LIGHT_BROWSERS = ("chromium-headless-shell", *BROWSERS)

_OPTIONS = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]

_FIREFOX = "firefox-esr"

#: no questions, and no sounds of a first start: updates, recommendations, pages that the browser opens by itself
_FIREFOX_PREFERENCES = {
    "ui.prefersReducedMotion": 1,
    "app.normandy.enabled": False,
    "datareporting.policy.dataSubmissionEnabled": False,
}

BOTH_BROWSERS = ("chromium", "firefox")


class BrowserDriver:
    """Playwright and its Chromium without windows, for all files: they take most of a second of processor time to start.

    Between its calls Playwright marks its event loop as the running one, which forbids others. ``used`` limits that to a
    file, for tests of other files in this process run their own event loops.
    """

    def __init__(self, playwright: Playwright) -> None:
        self.playwright = playwright
        self._loop = asyncio.get_running_loop()
        self._open = ExitStack()
        #: what pages reach at SAMP's own port, where a hub of this machine's user may be
        self.samp_port = free_port()

    @cached_property
    def chromium(self) -> Browser:
        return self._open.enter_context(self.launch(_LIGHT_BROWSERS))

    @contextmanager
    def launch(self, names: Sequence[str]) -> Iterator[Browser]:
        programs = [program for name in names if (program := shutil.which(name))]
        assert programs, "these tests need Debian's chromium: apt-get install chromium"
        rules = ", ".join(f"MAP {address} 127.0.0.1:{self.samp_port}" for address in SAMP_HOSTS)
        options = [*_OPTIONS, f"--host-resolver-rules={rules}"]
        browser = self.playwright.chromium.launch(executable_path=programs[0], args=options)
        yield browser
        browser.close()

    @contextmanager
    def used(self) -> Iterator[Playwright]:
        asyncio._set_running_loop(self._loop)
        yield self.playwright
        asyncio._set_running_loop(None)

    def close(self) -> None:
        asyncio._set_running_loop(self._loop)
        self._open.close()


@contextmanager
def launch_firefox(playwright: Playwright, folder: Path) -> Iterator[Browser]:
    """Launch Debian's Firefox through ``firefox_bridge``."""
    if not shutil.which(_FIREFOX):
        pytest.skip(f"this system has no {_FIREFOX}")
    bridge = folder / "firefox"
    bridge.write_text(
        f'#!/bin/sh\ncd {shlex.quote(str(ROOT))}\nexec {shlex.quote(sys.executable)} -m tests.e2e.firefox_bridge "$@"\n'
    )
    bridge.chmod(0o700)
    browser = playwright.firefox.launch(
        executable_path=bridge, channel="moz-firefox", firefox_user_prefs=_FIREFOX_PREFERENCES
    )
    yield browser
    browser.close()
