"""Makes documents of Python values, for all tests of serializers."""

from __future__ import annotations

import pytest

from tests.support.write_document import Write, write_document


@pytest.fixture(scope="session")
def write() -> Write:
    """``write(responseformat, fields, columns)``: the complete document; ``cuts``: the sizes of the batches."""
    return write_document
