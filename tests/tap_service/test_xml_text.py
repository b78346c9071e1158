"""Any text survives XML; characters that XML forbids become U+FFFD."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from tap_service.xml_text import Markup, element, join_lines, optional_element, tag

#: lone surrogates too: a query's text comes from the network
ANYTHING = st.text(st.characters(), max_size=40) | st.text("\x00\x08\t\n\r <>&\"'\ufffe\uffff\ud800]é𝄞", max_size=20)


def expected(text: str) -> str:
    return re.sub("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]", "\ufffd", text)


@given(ANYTHING)
def test_any_text_is_read_back(text):
    parsed = ET.fromstring(element("a", text, key=text + "x").encode())
    assert (parsed.text or "") == expected(text)
    assert parsed.get("key") == expected(text) + "x"


def test_elements():
    assert element("a") == "<a/>"
    assert element("a", "") == "<a/>"
    assert element("a", "x", Markup("<b/>"), key="", other="1") == '<a other="1">x<b/></a>'
    assert tag("a", {"xsi:type": "t"}) == '<a xsi:type="t"/>'
    assert (optional_element("a", ""), optional_element("a", "x")) == ("", "<a>x</a>")
    assert join_lines("<a/>", "", "<b/>") == "\n<a/>\n<b/>\n"
