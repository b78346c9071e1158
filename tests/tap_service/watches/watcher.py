"""A user with watches."""

from __future__ import annotations

import time
from typing import Any

from tests.support.running_service import RunningService
from tests.tap_service.users import User
from tests.tap_service.watches.alerts import TABLE

BRIGHT = f"SELECT id, ra, dec, mag FROM {TABLE} WHERE mag < 2"


class Watcher(User):
    def __init__(self, service: RunningService, name: str) -> None:
        super().__init__(service, name)
        self.service = service
        self.services = service.server.config.app.state.services
        self.rounds = self.services.watch_rounds

    def watch(self, status: int = 201, **request: Any) -> dict[str, Any]:
        answer = self.http("POST", "watches", json=request)
        assert answer.status_code == status, answer.text
        return answer.json() if status == 201 else {"message": answer.text}

    def show(self, watch: dict[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = self.http("GET", f"watches/{watch['id']}").json()
        return found

    def act(self, watch: dict[str, Any], action: str) -> None:
        assert self.http("POST", f"watches/{watch['id']}", json={"action": action}).status_code == 200

    def wait(self, watch: dict[str, Any], *states: str) -> dict[str, Any]:
        """Do rounds until the runs of the watch, the newest first, have these states."""
        while True:
            self.rounds.run_round()
            shown = self.show(watch)
            found = [run["state"] for run in shown["runs"]]
            if found == list(states):
                return shown
            assert len(found) <= len(states)
            assert not {"FAILED", "MISSED"} & {*found} - {*states}, shown
            time.sleep(0.15)

    def wait_for_messages(self, watch: dict[str, Any]) -> dict[str, Any]:
        """Do rounds until no message is left to send; return the last delivery to the webhook."""
        while True:
            delivery: dict[str, Any] = self.show(watch)["runs"][0]["deliveries"]["webhook"]
            if delivery["state"] != "PENDING":
                return delivery
            self.rounds.run_round()
            time.sleep(0.15)

    def ids(self, table: str) -> list[int]:
        return [int(row[0]) for row in self.rows(f"SELECT id FROM {table} ORDER BY id")]

    def remove_all(self) -> None:
        for watch in self.http("GET", "watches").json()["watches"]:
            assert self.http("DELETE", f"watches/{watch['id']}").status_code == 204
        for name in self.tables:
            self.http("DELETE", f"tables/{name}")
