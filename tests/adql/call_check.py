"""A check of name and number of operands of every ``Call`` that tests construct."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from adql.functions import FUNCTIONS
from adql.ir import Call
from adql.ir.operators import OPERATORS


def check_call(name: str, count: int) -> None:
    """Assert that there is an operator or a function ``name`` that takes ``count`` operands."""
    if name in OPERATORS:
        assert _takes(OPERATORS[name].split(), count), f"{name} with {count} operands"
    else:
        assert any(f.accepts_count(count) for f in FUNCTIONS.get(name, ())), f"{name} with {count} operands"


def _takes(roles: list[str], count: int) -> bool:
    repeated = sum(role.endswith("*") for role in roles)
    optional = sum(role.endswith("?") for role in roles)
    others = count - (len(roles) - repeated - optional)
    return others >= 0 and others % repeated == 0 if repeated else 0 <= others <= optional


@pytest.fixture(autouse=True, scope="session")
def _check_calls() -> Iterator[None]:
    construct = Call.__init__

    def construct_checked(self: Call, *values: Any, **named: Any) -> None:
        construct(self, *values, **named)
        check_call(self.name, len(self.args))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Call, "__init__", construct_checked)
        yield
