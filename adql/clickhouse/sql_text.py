"""The types of functions that write SQL, which all parts of the emitter share."""

from __future__ import annotations

from collections.abc import Callable

from adql.ir import Call, Expr

#: Writes the SQL of an expression; a form calls it for its operands
Emit = Callable[[Expr], str]

#: Writes the SQL of a call of an operator
Form = Callable[[Call, Emit], str]
