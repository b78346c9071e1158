"""The representation that a client gets, according to RFC 9110, section 12.5.1."""

from __future__ import annotations

import pytest

from tap_service.handlers.content_negotiation import choose_media_type

XML, JSON = "application/xml", "application/json"


@pytest.mark.parametrize(
    ("accept", "chosen"),
    [
        ("", XML),
        ("*/*", XML),
        ("application/*", XML),
        ("application/json", JSON),
        ("APPLICATION/JSON ; q=0.5", JSON),
        ("application/json, text/plain, */*", JSON),
        ("application/json, */*;q=0.1", JSON),
        ("application/xml;q=0.2, application/json;q=0.3", JSON),
        ("application/json;q=0, */*", XML),
        ("application/xml;q=0, */*", JSON),
        ("application/xml;q=0, application/*;q=0.1", JSON),
        ("application/json;version=2", JSON),
        ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", XML),  # browsers
        ("text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2", XML),  # Java
        ("*;q=0.1, application/xml;q=0", JSON),
        ("application/json, text/plain, */*;q=0.5", JSON),
        ("text/csv", XML),  # nothing is acceptable: RFC 9110 allows the default
        ("application/json;q=nan", XML),
        ("application/json;q=2, application/xml;q=0.1", XML),
        (",;=,;q=1,\xe9", XML),
    ],
)
def test_the_choice(accept: str, chosen: str) -> None:
    assert choose_media_type(accept, (XML, JSON)) == chosen


def test_parameters_of_what_is_offered_do_not_count() -> None:
    votable = "application/x-votable+xml;serialization=TABLEDATA"
    assert choose_media_type("application/x-votable+xml, application/json;q=0.9", (JSON, votable)) == votable
