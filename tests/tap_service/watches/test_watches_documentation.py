"""docs/watchlists.md is correct: its documents have the keys of the service's, and its signature check works."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import Any

from tap_service.config import Config
from tap_service.documents.watch_documents import describe_watch, webhook_message
from tap_service.handlers import watch_routes
from tap_service.models.watch import Delivery, RunState, Watch, WatchRun
from tap_service.services.watches.watch_messages import sign_message
from tests.support.environment import ROOT

TEXT = (ROOT / "docs" / "watchlists.md").read_text()
T0 = datetime(2026, 1, 31, tzinfo=UTC)
SAMPLE = json.dumps({"columns": ["id"], "rows": [[1]]})
RUN = WatchRun("a", 1, T0, 3, T0, T0, RunState.DONE, "job", sample=SAMPLE, deliveries=(Delivery("webhook", T0),))
WATCH = Watch("w", "alice", "bright", T0, "SELECT 1", "sky.alerts", "bright", 0, runs=(RUN,))


def keys(document: Any) -> Any:
    """Return the keys of a document and of nested documents."""
    if isinstance(document, list):
        return [keys(each) for each in document[:1]]
    return {name: keys(value) for name, value in document.items()} if isinstance(document, dict) else None


def test_the_documents() -> None:
    listed, message = (json.loads(text) for text in re.findall(r"```json\n(.*?)```", TEXT, re.DOTALL))
    assert keys(listed) == keys(describe_watch(WATCH))
    assert keys(message) == keys(json.loads(webhook_message(WATCH, RUN, "https://example.org")))


def test_the_keys_of_a_request() -> None:
    asked = re.search(r"\| key \| value \|\n\|---\|---\|\n(.*?)\n\n", TEXT, re.DOTALL)
    assert asked is not None
    named = [name for line in asked[1].splitlines() for name in re.findall(r"`(\w+)`", line.split("|")[1])]
    assert sorted(named) == sorted(watch_routes._NAMES)


def test_the_check_of_a_signature() -> None:
    [python] = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    defined: dict[str, Any] = {}
    exec(python, defined)
    headers = {"Skyhouse-Timestamp": "17", "Skyhouse-Signature": f"sha256={sign_message('secret', '17', b'{}')}"}
    assert defined["is_genuine"]("secret", headers, b"{}")
    assert not defined["is_genuine"]("other", headers, b"{}")
    assert not defined["is_genuine"]("secret", headers, b"{ }")


def test_every_setting_is_one() -> None:
    named = {name.lower() for name in re.findall(r"`SKYHOUSE_(\w+)`", TEXT)}
    assert named <= set(Config.model_fields)
