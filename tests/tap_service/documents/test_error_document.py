"""The error document, with any message, read by astropy and pyvo."""

from __future__ import annotations

import io
import re

import pytest
from astropy.io.votable import parse
from hypothesis import given
from hypothesis import strategies as st
from pyvo.dal import DALQueryError, DALResults

from tap_service.documents.error_document import error_document


def test_whole_document():
    assert error_document("no column <x>", "SELECT\nx").decode() == (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<VOTABLE version="1.4" xmlns="http://www.ivoa.net/xml/VOTable/v1.3">\n'
        '<RESOURCE type="results">\n'
        '<INFO name="QUERY_STATUS" value="ERROR">no column &lt;x&gt;</INFO>\n'
        '<INFO name="QUERY" value="SELECT&#10;x"/>\n'
        "</RESOURCE>\n"
        "</VOTABLE>\n"
    )
    assert error_document("why").count(b"<INFO") == 1


@given(st.text(st.characters(), min_size=1, max_size=60))
def test_any_message_survives(message):
    infos = parse(io.BytesIO(error_document(f"x{message}x", message))).resources[0].infos
    expected = re.sub("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]", "\ufffd", f"x{message}x")
    assert infos[0].value == "ERROR"
    assert infos[0].content == expected


def test_pyvo_raises_the_message():
    votable = parse(io.BytesIO(error_document("line 1, column 8: no column raa (did you mean ra?)")))
    with pytest.raises(DALQueryError, match=r"line 1, column 8: no column raa \(did you mean ra\?\)"):
        DALResults(votable)
