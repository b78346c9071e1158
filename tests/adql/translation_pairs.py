"""The queries of ``translation_pairs.sql`` and their translations; run this module to rewrite the file.

    python -m tests.adql.translation_pairs

Review the diff before you commit it: it shows the effect of a change to the translator.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from adql.clickhouse.sql_settings import SETTINGS
from adql.translation import translate
from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.schema_model import Column, ForeignKey, Layout, Schema, Table
from clickhouse_schema.shard_map import CLUSTER_NAME, Sharding, ShardMap

FILE = Path(__file__).with_suffix(".sql")
WIDTH = 160

#: Queries whose title begins so are translated for a cluster of three shards.
ON_CLUSTER = "Cluster:"

_SEPARATOR = "\n=>\n"
_CLAUSES = re.compile(
    r" (?=(?:FROM|WHERE|PREWHERE|GROUP BY|HAVING|ORDER BY|LIMIT|UNION|EXCEPT|INTERSECT|SETTINGS|(?:GLOBAL )?(?:INNER|LEFT|FULL|ANY|SEMI|ANTI|CROSS)[A-Z ]* JOIN|ON)\b)"
)

_POSITION = (Column(name="ra", datatype="double", unit="deg"), Column(name="dec", datatype="double", unit="deg"))
_ID = Column(name="id", datatype="long", nullable=False)
_TABLES = (
    Table(
        name="objects",
        columns=(
            _ID,
            *_POSITION,
            Column(name="parallax", datatype="double", unit="mas"),
            Column(name="pmra", datatype="double", unit="mas/yr"),
            Column(name="pmdec", datatype="double", unit="mas/yr"),
            Column(name="g_mag", datatype="float", unit="mag"),
            Column(name="r_mag", datatype="float", unit="mag"),
            Column(name="n_obs", datatype="int"),
            Column(name="class", datatype="string"),
            Column(name="variable", datatype="boolean"),
            Column(name="seen", datatype="timestamp"),
            Column(name="flux", datatype="float", arraysize="*"),
        ),
        layout=Layout(position=("ra", "dec"), id=("id",), overlap_radius=0.1, indexes=("class",)),
    ),
    Table(
        name="sources",
        columns=(
            _ID,
            Column(name="object", datatype="long"),
            *_POSITION,
            Column(name="mjd", datatype="double", unit="d"),
            Column(name="flux", datatype="float", unit="nJy"),
            Column(name="radius", datatype="double", unit="deg"),
        ),
        keys=(
            ForeignKey(name="of", columns=("object",), referencedTable="sky.objects", referencedColumns=("id",)),
        ),
        layout=Layout(position=("ra", "dec"), id=("id",), time="mjd", overlap_radius=0.1, parent="of"),
    ),
    Table(
        name="targets",
        columns=(Column(name="name", datatype="string"), *_POSITION, Column(name="radius", datatype="double")),
        layout=Layout(position=("ra", "dec")),
    ),
    Table(
        name="observations",
        columns=(
            _ID,
            Column(name="field", datatype="double", arraysize="*", xtype="polygon"),
            Column(name="beam", datatype="double", arraysize="3", xtype="circle"),
            Column(name="s_region", datatype="string", xtype="adql:REGION"),
            Column(name="moc", datatype="string", xtype="moc"),
        ),
        layout=Layout(id=("id",)),
    ),
    Table(name="bands", columns=(Column(name="name", datatype="string"), Column(name="nm", datatype="float"))),
)  # fmt: skip
_ROWS = {"objects": 50_000_000, "sources": 900_000_000, "targets": 300, "observations": 20_000, "bands": 6}
_COUNTS = {("sky", name): rows for name, rows in _ROWS.items()}
ONE_SERVER = Catalogue((Schema(name="sky", tables=_TABLES),), _COUNTS)
THREE_SHARDS = Catalogue(ONE_SERVER.schemas, _COUNTS, sharding=Sharding(CLUSTER_NAME, ShardMap.build_uniform(3)))


@dataclass(frozen=True, slots=True)
class Pair:
    title: str
    adql: str
    sql: str

    def __str__(self) -> str:
        return f"-- {self.title}\n{self.adql}{_SEPARATOR}{self.sql}\n"


def read_pairs() -> list[Pair]:
    return [_parse_pair(text) for text in re.split(r"\n(?=-- )", FILE.read_text(encoding="utf-8"))]


def translate_pair(pair: Pair) -> Pair:
    """Return the pair with the translator's current SQL."""
    catalogue = THREE_SHARDS if pair.title.startswith(ON_CLUSTER) else ONE_SERVER
    translation = translate(pair.adql, catalogue)
    settings = sorted(f"{name} = {value}" for name, value in translation.settings.items() - SETTINGS.items())
    sql = translation.sql + (f" SETTINGS {', '.join(settings)}" if settings else "")
    return Pair(pair.title, pair.adql, "\n".join(_wrap_sql(sql)))


def write_pairs() -> None:
    FILE.write_text("\n".join(str(translate_pair(pair)) for pair in read_pairs()), encoding="utf-8")


def _parse_pair(text: str) -> Pair:
    adql, _, sql = text.strip().partition(_SEPARATOR.rstrip("\n"))
    title, _, adql = adql.partition("\n")
    return Pair(title.removeprefix("-- "), adql.strip(), sql.strip())


def _wrap_sql(sql: str) -> Iterator[str]:
    """Yield one clause per line, wrapped at blanks to ``WIDTH``. String literals may be split: for reading only."""
    for line in _CLAUSES.sub("\n", sql).split("\n"):
        yield from textwrap.wrap(line, WIDTH, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)


if __name__ == "__main__":
    write_pairs()
