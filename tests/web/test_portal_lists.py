"""The lists that the portal shares with Python equal Python's lists."""

from __future__ import annotations

import re

import pytest

from adql.syntax.reserved_functions import ARGUMENTS
from tools.portal_lists import LISTS, SOURCES


@pytest.mark.parametrize("path", LISTS)
def test_a_written_list_is_up_to_date(path: str) -> None:
    assert (SOURCES / path).read_text(encoding="utf-8") == LISTS[path](), f"web/src/{path}: make portal"


def test_the_editor_has_a_form_of_every_reserved_function() -> None:
    forms = (SOURCES / "editor" / "functionForms.ts").read_text(encoding="utf-8")
    named = set(re.findall(r"['\"]([A-Z0-9_]+)\(", forms))
    assert ARGUMENTS.keys() <= named
