"""Write the lists that the portal shares with Python: ``python -m tools.portal_lists``, part of ``make portal``.

The portal's sources contain them as separate files, so that a build only needs Node.
"""

from __future__ import annotations

import textwrap
from pathlib import Path

from clickhouse_schema.reserved_words import RESERVED
from tap_service.serializers.output_formats import FORMATS, HATS

SOURCES = Path(__file__).parents[1] / "web" / "src"


def write_reserved_words() -> str:
    words = textwrap.indent(textwrap.fill(" ".join(sorted(RESERVED)), 112), "    ")
    return f"""\
// Written by tools/portal_lists.py from clickhouse_schema/reserved_words.py: change that, then `make portal`.

const WORDS = `
{words}`;

/** The reserved words of ADQL 2.1: names only in double quotes. */
export const RESERVED: ReadonlySet<string> = new Set(WORDS.trim().split(/\\s+/));
"""


def write_format_extensions() -> str:
    """Return each media type and each short name of a format, without parameters, with its file extension."""
    extensions: dict[str, str] = {}
    for entry in (*FORMATS, HATS):
        for name in (entry.mime, *entry.aliases):
            extensions.setdefault(name.split(";")[0], entry.extension)
    lines = "\n".join(f"    {_quote_key(name)}: '{extension}'," for name, extension in extensions.items())
    return f"""\
// Written by tools/portal_lists.py from tap_service/serializers/output_formats.py: change that, then `make portal`.

/** The file extension of each output format, by its media type and by the short names that RESPONSEFORMAT takes. */
export const EXTENSIONS: Readonly<Record<string, string>> = {{
{lines}
}};
"""


def _quote_key(name: str) -> str:
    return name if name.isidentifier() else f"'{name}'"


LISTS = {
    "adql/adqlReservedWords.ts": write_reserved_words,
    "tap/formatExtensions.ts": write_format_extensions,
}


def main() -> None:
    for path, write in LISTS.items():
        (SOURCES / path).write_text(write(), encoding="utf-8")


if __name__ == "__main__":
    main()
