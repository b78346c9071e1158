"""A settings file to edit: each setting with its title, its description and its default, commented out."""

from __future__ import annotations

import textwrap

from tap_service.config import Config, find_default
from tap_service.settings.settings_file import DEFAULT_FILE, FILE_VARIABLE, format_toml_value

_HEAD = f"""\
# Settings of Skyhouse, in TOML: KEY = VALUE, with texts in quotes. docs/configuration.md explains them.
# Read from {DEFAULT_FILE}, or from the file that --config or {FILE_VARIABLE} names. An environment variable, such as
# SKYHOUSE_TITLE for title, overrides its line here. Remove the # before a line to set it; it has the default now.
# A list may be an array, ["a", "b"], or one text with commas. Check the file with: skyhouse config check FILE
# With a password in it, the file must not be readable by everyone: chmod o= FILE
"""
_WIDTH = 118


def write_template() -> str:
    """Return the text of the file, with the defaults of this machine."""
    parts = [_HEAD]
    for name, field in Config.model_fields.items():
        about = textwrap.wrap(f"{field.title}. {field.description}", _WIDTH, break_long_words=False)
        default = format_toml_value(find_default(name))
        parts.append("".join(f"# {line}\n" for line in about) + f"#{name} = {default}\n")
    return "\n".join(parts)
