"""A data directory of Skyhouse 0.1.0, which this version serves.

data_0.1.0.tar.xz was made by its commands and its service: survey.stars with 200 rows, the administrator alice with a
token, a table, a completed job and a pending one, which are kept for a hundred years.
"""

from __future__ import annotations

import base64
import subprocess
import sys
import tarfile
import urllib.request
from pathlib import Path

import pytest

from tests.loaders.test_backup import stop
from tests.loaders.test_cli import Service, skyhouse, started
from tests.support.environment import ROOT

TOKEN = "Bearer sky_kYTLNT9GVSFAyyfR7oWl5V3KSjKiDI4WOq5mM6Fhj2w"
PASSWORD = "Basic " + base64.b64encode(b"alice:the password of alice").decode()

#: Runs in a separate process, because the engine has one data directory in each process
_MARK = """
import sys
from pathlib import Path
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
engine = EmbeddedEngine(Path(sys.argv[1]))
engine.execute("INSERT INTO skyhouse.catalogue VALUES (18446744073709551615, '', 'format', '99', 0)")
engine.close()
"""


@pytest.fixture
def old(tmp_path: Path) -> Path:
    with tarfile.open(ROOT / "tests" / "loaders" / "data_0.1.0.tar.xz") as archive:
        archive.extraction_filter = getattr(tarfile, "tar_filter", None)  # Python 3.11.2, of Debian 12, has none
        archive.extractall(tmp_path)
    return tmp_path


def ask(service: Service, path: str, authorization: str) -> str:
    request = urllib.request.Request(f"http://127.0.0.1:{service.port}{path}", headers={"Authorization": authorization})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return str(answer.read().decode())


def test_nothing_is_lost(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SKYHOUSE_USER_TABLE_DAYS", "36500")
    service = started(old)
    try:
        assert service.rows("SELECT COUNT(*) FROM survey.stars") == ["200"]
        mine = "/tap/sync?LANG=ADQL&FORMAT=csv&QUERY=SELECT+COUNT(*)+FROM+mydb.mine"
        for authorization in (TOKEN, PASSWORD):
            assert ask(service, mine, authorization).split()[1:] == ["200"]
        jobs = ask(service, "/tap/async?PHASE=COMPLETED", TOKEN)
        [job] = [part.split('"')[0] for part in jobs.split('jobref id="')[1:]]
        assert ask(service, f"/tap/async/{job}/results/result", TOKEN).split()[0] == "id,mag"
        assert len(ask(service, f"/tap/async/{job}/results/result", TOKEN).split()) == 6
        assert "PENDING" in ask(service, "/tap/async?PHASE=PENDING", TOKEN)
    finally:
        stop(service)
    assert skyhouse(old, "verify", "survey.stars")[0] == 0
    assert skyhouse(old, "user", "list")[1] == "alice\tadmin\tscripts\n"
    # the users before the upgrade, for a downgrade
    assert (old / "data" / "accounts.sqlite.version-0").exists()


def test_a_later_catalogue_is_rejected(old: Path) -> None:
    subprocess.run([sys.executable, "-c", _MARK, str(old / "data")], cwd=ROOT, check=True, timeout=60)
    code, out, err = skyhouse(old, "tables")
    assert (code, out) == (1, "")
    assert (
        "error: the catalogue was written by a later version of Skyhouse (its version is 99, this one knows 1)" in err
    )
    assert "install that version, or restore a backup" in err
