"""Recipes: the shipped recipes, and the errors of others."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import re
from pathlib import Path

import pytest
import yaml

from loaders.load_error import LoadError
from loaders.mirror.file_list import expand_pattern
from loaders.mirror.mirror_load import mirror_table
from loaders.mirror.mirror_request import MirrorRequest
from loaders.mirror.recipe import MetadataOrigin, Recipe, RowOrigin, parse_recipe
from loaders.mirror.recipe_files import find_recipe_file, list_recipe_names, read_key
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tests.loaders.mirror.gaia_mirror import PATIENCE, RECIPE, GaiaMirror, read_rows, sort_rows
from tests.loaders.mirror.origin_files import Row
from tests.loaders.recorder import Recorder
from tests.servers.origin_server import OriginServer, serving_origin

DOCS = Path(__file__).parents[3] / "docs" / "mirrors.md"

#: Real values of the columns with unusual types
TWOMASS_ROW = {"designation": "00000000-0000000", "ph_qual": "AAA", "rd_flg": "222", "date": "1999-10-21", "a": "0"}


def read_shipped(name: str) -> Recipe:
    path = find_recipe_file(name)
    return parse_recipe(path.read_text(), str(path))


@pytest.mark.parametrize("name", list_recipe_names())
def test_a_shipped_recipe_is_valid_and_has_the_name_of_its_file(name: str) -> None:
    recipe = read_shipped(name)
    path = find_recipe_file(name)
    assert (recipe.name, recipe.title, recipe.table) == (name, read_key(path, "title"), read_key(path, "table"))
    assert recipe.layout.id or recipe.layout.position


def test_only_recipes_of_gaia_dr4_are_drafts() -> None:
    drafts = [name for name in list_recipe_names() if read_shipped(name).status == "draft"]
    assert drafts == ["gaia_dr4", "gaia_dr4_dr3_neighbourhood", "gaia_dr4_nss_two_body_orbit"]


@pytest.mark.parametrize(
    ("name", "count", "first", "last"),
    [
        ("twomass_psc", 92, "psc_aaa.gz", "psc_bbi.gz"),
        ("allwise", 48, "wise-allwise-cat-part01.bz2", "wise-allwise-cat-part48.bz2"),
    ],
)
def test_patterns_name_all_files(name: str, count: int, first: str, last: str) -> None:
    names = [path.rpartition("/")[2] for each in read_shipped(name).origin.files for path in expand_pattern(each)]
    assert (len(names), len({*names}), names[0], names[-1]) == (count, count, first, last)


@pytest.mark.parametrize(("name", "columns"), [("twomass_psc", 60), ("allwise", 298)])
def test_files_without_a_header_have_all_columns(name: str, columns: int) -> None:
    assert len(read_shipped(name).columns) == columns


def localise(name: str, server: OriginServer, folder: Path, files: list[str]) -> Path:
    """The shipped recipe with the files of the local server, and without the metadata of the origin's service."""
    data = yaml.safe_load(find_recipe_file(name).read_text())
    data["origin"]["files"] = [f"{server.url}/{file}" for file in files]
    if "checksums" in data["origin"]:
        data["origin"]["checksums"] = f"{server.url}/{data['origin']['checksums'].rpartition('/')[2]}"
    del data["metadata"]
    path = folder / "recipe.yaml"
    path.write_text(yaml.safe_dump(data, sort_keys=False))
    return path


def mirror(engine: EmbeddedEngine, recipe: Path, table: str) -> Recorder:
    recorder = Recorder()
    request = MirrorRequest(
        recipe=str(recipe), table=table, work=recipe.parent / "work", rejects=recipe.parent / "rejects.csv"
    )
    mirror_table(engine, request, recorder, PATIENCE)
    return recorder


def test_two_mass_has_no_header_bars_and_backslash_n(tmp_path: Path, mirror_engine: EmbeddedEngine) -> None:
    recipe = read_shipped("twomass_psc")
    (tmp_path / "origin").mkdir()
    for number, name in enumerate(("psc_aaa.gz", "psc_aab.gz")):
        lines = []
        for row in range(50):
            key = number * 50 + row
            values = dict.fromkeys(recipe.columns, "1") | TWOMASS_ROW
            values |= {"ra": f"{key * 3.6:.6f}", "dec": f"{-89 + key:.6f}", "pts_key": str(key), "b_m_opt": "\\N"}
            lines.append("|".join(values.values()) + "\n")
        (tmp_path / "origin" / name).write_bytes(gzip.compress("".join(lines).encode()))
    with serving_origin(tmp_path / "origin") as server:
        recorder = mirror(
            mirror_engine, localise("twomass_psc", server, tmp_path, ["psc_aaa.gz", "psc_aab.gz"]), "mirrored.twomass"
        )
    assert recorder.lines == ["loaded 100 rows into mirrored.twomass"]
    sql = "SELECT pts_key, ra, dec, designation, ph_qual, date, b_m_opt, coadd FROM mirrored.twomass ORDER BY pts_key"
    rows = mirror_engine.fetch_table(sql).to_pylist()
    assert [row["pts_key"] for row in rows] == [*range(100)]
    assert rows[99] == {
        "pts_key": 99,
        "ra": 356.4,
        "dec": 10.0,
        "designation": "00000000-0000000",
        "ph_qual": "AAA",
        "date": "1999-10-21",
        "b_m_opt": None,
        "coadd": 1,
    }


def test_all_wise_is_bzip2_with_empty_fields_and_sums(tmp_path: Path, mirror_engine: EmbeddedEngine) -> None:
    recipe = read_shipped("allwise")
    (tmp_path / "origin").mkdir()
    names = ["wise-allwise-cat-part01.bz2", "wise-allwise-cat-part02.bz2"]
    sums = []
    for number, name in enumerate(names):
        lines = []
        for row in range(20):
            values = {column: "" if column == "pmra" else "2" for column in recipe.columns}
            values |= {"designation": f"J{number}{row}", "ra": f"{row}.5", "dec": f"{number}.5"}
            values |= {"cntr": str(3 * 2**40 + 20 * number + row)}
            lines.append("|".join(values.values()) + "\n")
        data = bz2.compress("".join(lines).encode())
        (tmp_path / "origin" / name).write_bytes(data)
        sums.append(f"{hashlib.md5(data).hexdigest()}  {name}\n")
    (tmp_path / "origin" / "wise-allwise-cat.bz2.md5.txt").write_text("".join(sums))
    with serving_origin(tmp_path / "origin") as server:
        mirror(mirror_engine, localise("allwise", server, tmp_path, names), "mirrored.allwise")
    sql = "SELECT cntr, designation, ra, dec, pmra, htm20 FROM mirrored.allwise ORDER BY cntr"
    rows = mirror_engine.fetch_table(sql).to_pylist()
    assert len(rows) == 40
    assert rows[21] == {
        "cntr": 3 * 2**40 + 21,
        "designation": "J11",
        "ra": 1.5,
        "dec": 1.5,
        "pmra": None,
        "htm20": 2,
    }


def test_cat_wise_is_ipac_tables_in_folders_whose_pages_list_them(
    tmp_path: Path, mirror_engine: EmbeddedEngine
) -> None:
    widths = {"source_name": 22, "source_id": 26, "ra": 13, "dec": 13, "w1mpro": 9, "PMRA": 11}
    types = ["char", "char", "double", "double", "double", "double"]
    units = ["", "", "deg", "deg", "mag", "asec/yr"]
    heads = [[*widths], types, units, ["null"] * 6]
    top = "\\Nsrc = 2\n\\ origin\n"
    top += "".join("|" + "|".join(f"{t:>{w}}" for t, w in zip(h, widths.values(), strict=True)) + "|\n" for h in heads)
    for tile, name in enumerate(("0000m016_opt1_20191208_213403", "0015m016_opt1_20191209_054819")):
        page = tmp_path / "origin" / f"{tile:03d}"
        page.mkdir(parents=True)
        rows = [
            [f"J{tile}{row}", f"{name[:8]}_opt1-{row}", f"{tile}.{row}0", "-1.5", "12.5", "null" if row else "0.25"]
            for row in range(3)
        ]
        lines = (" " + " ".join(f"{v:>{w}}" for v, w in zip(row, widths.values(), strict=True)) + " \n" for row in rows)
        file = f"{name}_ab_v5_cat_b0.tbl.gz"
        (page / file).write_bytes(gzip.compress((top + "".join(lines)).encode()))
        other = file.replace("_cat_", "_rej_")
        (page / "list").write_text(f'<a href="../">..</a> <a href="{file}">c</a> <a href="{other}">r</a>')
    data = yaml.safe_load(find_recipe_file("catwise2020").read_text())
    with serving_origin(tmp_path / "origin") as server:
        data["origin"]["pages"] = f"{server.url}/{{000..001}}/list"
        (tmp_path / "recipe.yaml").write_text(yaml.safe_dump(data, sort_keys=False))
        mirror(mirror_engine, tmp_path / "recipe.yaml", "mirrored.catwise")
    columns = "source_name, source_id, ra, dec, w1mpro, PMRA"
    rows = mirror_engine.fetch_table(f"SELECT {columns} FROM mirrored.catwise ORDER BY source_name").to_pylist()
    assert len(rows) == 6
    assert [*rows[4].values()] == ["J11", "0015m016_opt1-1", 1.1, -1.5, 12.5, None]
    assert rows[3]["PMRA"] == 0.25


def test_files_are_found_by_the_links_of_pages(
    gaia: GaiaMirror, gaia_rows: list[list[Row]], mirror_engine: EmbeddedEngine
) -> None:
    folder = gaia.server.folder
    for number, path in enumerate(sorted(folder.glob("GaiaSource_*"))):
        (folder / f"{number % 2:03d}").mkdir(exist_ok=True)
        path.rename(folder / f"{number % 2:03d}" / path.name)
    for page in ("000", "001"):
        links = "".join(f'<a href="{path.name}">{path.name}</a>\n' for path in (folder / page).iterdir())
        elsewhere = (
            '<a href="../">up</a> <a href="http://elsewhere.example/GaiaSource_x.csv.gz">x</a> <a href="?C=N">N</a>'
        )
        (folder / page / "list.html").write_text(f"<html>{elsewhere}{links}</html>")
    recipe = RECIPE.replace("checksums: {url}/_MD5SUM.txt", "pages: {url}/{{000..001}}/list.html")
    GaiaMirror(gaia.server, gaia.folder, recipe).run(mirror_engine)
    assert read_rows(mirror_engine) == sort_rows(gaia_rows)


def test_a_schema_file_describes_the_table(gaia: GaiaMirror, mirror_engine: EmbeddedEngine) -> None:
    columns = "".join(
        f"  - {{name: {name}, datatype: {kind}}}\n" for name, kind in (("source_id", "long"), ("ra", "double"))
    )
    (gaia.server.folder / "gaia.yaml").write_text(
        f"name: x\ntables:\n- name: gaia\n  description: Of the origin\n  columns:\n{columns}"
        "  - {name: old_dec, datatype: double}\n"
    )
    recipe = RECIPE + "metadata: {{felis: '{url}/gaia.yaml'}}\nrenamed: {{old_dec: dec}}\n"
    GaiaMirror(gaia.server, gaia.folder, recipe).run(mirror_engine)
    assert {*read_rows(mirror_engine)[0]} == {"source_id", "ra", "dec"}


def test_a_draft_is_rejected(tmp_path: Path, mirror_engine: EmbeddedEngine) -> None:
    request = MirrorRequest(
        recipe=str(find_recipe_file("gaia_dr4")),
        table="mirrored.x",
        work=tmp_path / "work",
        rejects=tmp_path / "rejects.csv",
    )
    with pytest.raises(LoadError, match="gaia_dr4 is a draft: complete it, and remove its status"):
        mirror_table(mirror_engine, request, Recorder())


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("layout:", "layuot:"), "r.yaml:8: unknown key 'layuot': did you mean 'layout'?"),
        (("  match:", "  matches:"), "r.yaml:5: unknown key 'matches': did you mean 'match'?"),
        (("position: [ra, dec]", "position: [ra]"), "r.yaml:9: "),
        (("table: mirrored.gaia", "table: gaia"), "r.yaml:1: 'gaia' is not schema.table"),
        (("table: mirrored.gaia\n", ""), "r.yaml:1: the key 'table' is missing"),
        (("  checksums: {url}/_MD5SUM.txt\n", ""), "r.yaml:3: origin needs either files, checksums or pages"),
        (("name: gaia_test", "name: gaia_test\nname: x"), "r.yaml:2: the key 'name' occurs twice: remove one"),
        (("name: gaia_test", "columns: {{a: flaot}}\nname: x"), "r.yaml:1: 'flaot' is not a datatype"),
        (("ICRS", "ICRF"), "r.yaml:11: "),
    ],
)
def test_a_wrong_recipe_is_rejected_with_the_line(change: tuple[str, str], said: str) -> None:
    with pytest.raises(LoadError) as raised:
        parse_recipe(RECIPE.replace(*change).format(url="http://x.example"), "r.yaml")
    assert str(raised.value).startswith(said)


def test_an_empty_recipe_is_reported_as_such() -> None:
    with pytest.raises(LoadError, match=r"^r.yaml:1: the file is empty: a recipe starts with 'name: ...'$"):
        parse_recipe("\n", "r.yaml")


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("http://x.example/{a..}", "has braces that are not a range"),
        ("http://x.example/{9..1}", "has a range that ends before it starts"),
        ("http://x.example/{0..9999}{0..9999}", "the limit is"),
        ("http://x.example/{0..99999999999}", "the limit is|more than"),
    ],
)
def test_an_invalid_pattern_is_rejected(pattern: str, said: str) -> None:
    with pytest.raises(LoadError, match=said):
        expand_pattern(pattern)


def test_the_documentation_lists_the_keys() -> None:
    listed = re.findall(r"^\| `([a-z.]+)`", DOCS.read_text(), re.M)
    wanted = [*Recipe.model_fields]
    wanted += [f"origin.{name}" for name in RowOrigin.model_fields]
    wanted += [f"metadata.{name}" for name in MetadataOrigin.model_fields]
    assert {*listed} >= {*wanted}


def test_the_documentation_lists_the_shipped_recipes() -> None:
    assert {*list_recipe_names()} <= {*re.findall(r"`([a-z0-9_]+)`", DOCS.read_text())}
