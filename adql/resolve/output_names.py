"""Names of result columns: given, generated, and meant by ORDER BY."""

from __future__ import annotations

from dataclasses import replace

from adql.errors import AdqlSemanticError
from adql.ir import Output
from adql.resolve.identifiers import is_same_name, parts_to_text
from adql.syntax import nodes


def find_output_name(item: nodes.SelectItem) -> str:
    """Return the alias, or the column's name as written, or '' if a name must be generated."""
    if item.alias is not None:
        return item.alias.name
    return item.expression.parts[-1].name if isinstance(item.expression, nodes.ColumnRef) else ""


def name_outputs(outputs: list[Output], stems: dict[str, str]) -> list[Output]:
    """Give each output without a name a unique regular identifier, of a function's name and its place.

    ``stems``: the names of functions by the outputs' aliases.
    """
    used = {o.field.name.lower() for o in outputs}
    named = []
    for place, output in enumerate(outputs, 1):
        if not output.field.name:
            name = f"{stems.get(output.alias, 'col')}_{place}"
            while name in used:
                name += "_"
            used.add(name)
            output = replace(output, field=replace(output.field, name=name))
        named.append(output)
    return named


def find_output(expression: nodes.Expression, outputs: list[Output]) -> Output | None:
    """Return the output that an ORDER BY term names or numbers; None for other expressions."""
    if isinstance(expression, nodes.NumberLiteral):
        place = expression.value
        if not isinstance(place, int) or not 1 <= place <= len(outputs):
            raise AdqlSemanticError(
                f"ORDER BY {expression.text}: the result has columns 1 to {len(outputs)}",
                expression.span,
                "a number is the position of a selected column",
            )
        return outputs[place - 1]
    if isinstance(expression, nodes.ColumnRef) and len(expression.parts) == 1:
        named = [o for o in outputs if is_same_name(expression.parts[0], o.field.name)]
        if len(named) > 1 and any(o.expr != named[0].expr for o in named):
            raise AdqlSemanticError(
                f"ORDER BY {parts_to_text(expression.parts)}: {len(named)} output columns have this name",
                expression.span,
            )
        return named[0] if named else None
    return None
