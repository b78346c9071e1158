"""``skyhouse mirror`` as users run it: alone, and while a service uses the data directory."""

from __future__ import annotations

import signal
from pathlib import Path

from tests.loaders.mirror.gaia_mirror import RECIPE
from tests.loaders.mirror.origin_files import make_gaia_rows, sort_sources, write_gaia
from tests.loaders.test_cli import skyhouse, started
from tests.servers.origin_server import serving_origin


def test_a_mirror_in_a_service_and_without_one(tmp_path: Path) -> None:
    files = make_gaia_rows(50)
    write_gaia(tmp_path / "origin", files)
    with serving_origin(tmp_path / "origin") as server:
        (tmp_path / "recipe.yaml").write_text(RECIPE.format(url=server.url))
        service = started(tmp_path)
        code, out, err = skyhouse(tmp_path, "mirror", "recipe.yaml")
        assert (code, out) == (0, "loaded 200 rows into mirrored.gaia\n"), err
        assert service.rows("SELECT source_id FROM mirrored.gaia ORDER BY source_id") == sort_sources(files)
        assert not (tmp_path / "data" / "mirrors" / "mirrored.gaia").exists()
        service.process.send_signal(signal.SIGTERM)
        service.process.communicate(timeout=30)
        where = ("--where", "dec > 0", "--columns", "parallax", "--table", "mirrored.north", "--publish-as-you-go")
        code, out, err = skyhouse(tmp_path, "mirror", "recipe.yaml", *where)
        assert code == 0, err
        north = sum(row["dec"] > 0 for rows in files for row in rows)
        assert sum(int(line.split()[1]) for line in out.splitlines()) == north


def test_recipes_are_listed(tmp_path: Path) -> None:
    code, out, _ = skyhouse(tmp_path, "mirror", "list")
    assert code == 0
    assert "twomass_psc: 2MASS All-Sky Point Source Catalog, 470,992,970 rows in 92 files of 43 GB" in out
    assert "gaia_dr4: Gaia DR4 gaia_source (draft)" in out


def test_messages_about_wrong_usage_say_what_to_do(tmp_path: Path) -> None:
    code, _, err = skyhouse(tmp_path, "mirror", "gaia_dr33")
    assert (code, err[:39]) == (1, "error: there is no recipe gaia_dr33: gi")
    assert "gaia_dr3," in err
    code, _, err = skyhouse(tmp_path, "mirror", "tap+http://127.0.0.1:9/tap")
    assert code == 2
    assert "need --table" in err
    code, _, err = skyhouse(
        tmp_path, "mirror", "hats://x.example/y", "--table", "a.b", "--where", "dec > 0", "--restart"
    )
    assert code == 2
    assert "loaded completely, without --where, --restart" in " ".join(err.replace("│", " ").split())
