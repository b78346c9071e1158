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
            "A file to which the service appends one line of JSON per HTTP request; -: standard error; empty: no log."
        ),
    )
    log_addresses: Literal["full", "cut", "hashed", "none"] = Field(
        "full",
        title="Addresses of clients in both logs",
        description=(
            "full; cut: the network, of 24 bits for IPv4 and 48 for IPv6; hashed: with a key that is made anew each "
            "day (UTC) and then forgotten, so that lines of one day belong together; none."
        ),
    )
    log_users: Literal["full", "hashed", "none"] = Field(
        "full",
        title="Names of users in both logs",
        description="full; hashed, as addresses are; none.",
    )
    usage: Path | None = Field(
        None,
        title="File of usage statistics",
        description=(
            "Read by skyhouse usage. By default usage.sqlite in the data directory; with SKYHOUSE_REDIS_URL, usage is "
            "counted in Redis instead."
        ),
    )
    worker_metrics: str = Field(
        "",
        title="Address of the metrics of workers",
        description=(
            "Host and port, such as 127.0.0.1:9808, where each skyhouse-worker answers GET /metrics for all its "
            "processes; whoever reaches the port may read them. If empty, it answers nowhere."
        ),
    )

    @field_validator("worker_metrics")
    @classmethod
    def _check_worker_metrics(cls, value: str) -> str:
        return check_host_and_port(value)
