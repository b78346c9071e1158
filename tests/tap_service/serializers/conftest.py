"""One way to make a document out of Python values, for all tests of serializers."""

from __future__ import annotations

import pytest

from tests.support.write_document import Write, write_document


@pytest.fixture(scope="session")
def write() -> Write:
    """``write(responseformat, fields, columns)``: the whole document; ``cuts`` are the sizes of the batches."""
    return write_document
