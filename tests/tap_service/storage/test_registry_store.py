"""The file of published records."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from tap_service.models.registry_record import RecordDraft
from tap_service.storage.registry_store import RegistryStore, RegistryStoreError
from tap_service.xml_text import Markup


def draft(identifier: str, content: str) -> RecordDraft:
    return RecordDraft(identifier, "", lambda changed: Markup(f"<{content} updated='{changed}'/>"), Markup(content))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RegistryStore]:
    store = RegistryStore(tmp_path / "registry.sqlite")
    yield store
    store.close()


def list_changes(store: RegistryStore) -> dict[str, tuple[int, bool]]:
    found = store.list_records(0, 10**10, "", 100, with_content=False)
    return {record.identifier: (record.changed, record.is_deleted) for record in found}


def test_only_changed_records_get_a_new_date(store: RegistryStore) -> None:
    assert store.read_start() is None
    store.publish([draft("a", "x"), draft("b", "y")], 1000)
    store.publish([draft("a", "x"), draft("b", "z")], 2000)
    assert list_changes(store) == {"a": (1000, False), "b": (2000, False)}
    store.publish([draft("b", "z")], 3000)
    store.publish([draft("b", "z")], 4000)
    assert list_changes(store) == {"a": (3000, True), "b": (2000, False)}
    store.publish([draft("a", "x"), draft("b", "z")], 5000)
    assert list_changes(store) == {"a": (5000, False), "b": (2000, False)}
    found = store.find_record("A")
    assert found is not None
    assert found.resource == "<x updated='1970-01-01T01:23:20Z'/>"
    assert store.read_start() == 1000


def test_dates_never_go_back(store: RegistryStore) -> None:
    store.publish([draft("a", "x")], 5000)
    store.publish([draft("a", "y")], 4000)
    assert list_changes(store) == {"a": (5000, False)}


def test_a_failed_change_changes_nothing(store: RegistryStore) -> None:
    def fail(changed: str) -> Markup:
        if changed:
            raise RuntimeError("in the middle")
        return Markup("new")

    store.publish([draft("a", "x"), draft("b", "y")], 1000)
    with pytest.raises(RuntimeError, match="in the middle"):
        store.publish([draft("a", "changed"), RecordDraft("b", "", fail, Markup(""))], 2000)
    assert list_changes(store) == {"a": (1000, False), "b": (1000, False)}


def test_unusable_files(tmp_path: Path) -> None:
    with pytest.raises(RegistryStoreError, match="name another one in SKYHOUSE_REGISTRY_STATE"):
        RegistryStore(tmp_path / "missing" / "registry.sqlite")
    later = sqlite3.connect(tmp_path / "later")
    later.execute("PRAGMA user_version = 99")
    later.close()
    with pytest.raises(RegistryStoreError, match="a later version of Skyhouse"):
        RegistryStore(tmp_path / "later")
