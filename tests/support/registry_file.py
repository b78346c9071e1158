"""A file of registry metadata whose collections need two pages of records."""

from __future__ import annotations

from pathlib import Path

COLLECTIONS = 25

_FILE = """
authority: test.example.org
publisher: Observatory <of> & Tests
contact: {name: The staff, email: staff@example.org}
creators: ["O'Tester, A."]
created: 2026-11-01
reference_url: https://example.org/?a=1&b=2
subjects: [proper-motions]
wavebands: [Optical, X-ray]
rights: {uri: "https://spdx.org/licenses/CC0-1.0.html"}
service: {title: Tests in ADQL, short_name: Tests}
collections:
"""


def write_registry_file(path: Path, collections: int = COLLECTIONS) -> Path:
    path.write_text(
        _FILE
        + "".join(
            f"  - {{id: part/{number}, schema: svc, tables: [stars], title: Part {number}, temporal: [50000, 51000.5]}}\n"
            for number in range(collections)
        )
        + "  - {id: numbers, schema: svc, title: Everything}\n  - {id: gone, schema: nowhere, title: Nothing}\n"
    )
    return path
