"""Settings of what an operator sees: logs, metrics of workers, usage."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field, field_validator

from tap_service.settings.setting_values import check_host_and_port


class MonitoringSettings(BaseModel):
    request_log: str = Field(
        "",
        title="Request log",
        description=(
            "A file to which the service appends one line of JSON per HTTP request. -: standard error. Empty: no log."
        ),
    )
    log_addresses: Literal["full", "cut", "hashed", "none"] = Field(
        "full",
        title="Addresses of clients in both logs",
        description=(
            "full: complete addresses. cut: only the network, with 24 bits for IPv4 and 48 bits for IPv6. hashed: "
            "hashed with a random key that is replaced each day (UTC), so that only lines of the same day can be "
            "matched. none: no addresses."
        ),
    )
    log_users: Literal["full", "hashed", "none"] = Field(
        "full",
        title="Names of users in both logs",
        description="full: complete names. hashed: hashed in the same way as addresses. none: no names.",
    )
    usage: Path | None = Field(
        None,
        title="File of usage statistics",
        description=(
            "The command skyhouse usage reads this file. By default usage.sqlite in the data directory; with "
            "SKYHOUSE_REDIS_URL, usage is counted in Redis instead."
        ),
    )
    worker_metrics: str = Field(
        "",
        title="Address of the metrics of workers",
        description=(
            "Host and port, such as 127.0.0.1:9808, at which each skyhouse-worker answers GET /metrics for all its "
            "processes. Anyone who can reach the port can read the metrics. If empty, workers have no endpoint."
        ),
    )

    @field_validator("worker_metrics")
    @classmethod
    def _check_worker_metrics(cls, value: str) -> str:
        return check_host_and_port(value)
