"""Messages of commands are printed on the terminal unchanged."""

from __future__ import annotations

import pytest

from loaders.cli.console_reporter import ConsoleReporter


def test_a_message_is_printed_unchanged(capsys: pytest.CaptureFixture[str]) -> None:
    text = """ivoa:unit '"h:m:s"' is not a VOUnit [bold]:star:"""
    with ConsoleReporter() as reporter:
        reporter.message(text)
    assert capsys.readouterr().err == text + "\n"
