"""Settings of the connection to ClickHouse servers."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, Field, SecretStr, field_validator

from tap_service.settings.setting_values import check_server_url


class EngineSettings(BaseModel):
    clickhouse_url: str = Field(
        "",
        title="Addresses of ClickHouse servers",
        description=(
            "For example http://ch1:8123 or https://ch1:8443. Separate several servers of one cluster by commas, and "
            "give all processes of the service the same value. Do not put a load balancer in front of several servers: "
            "a query is cancelled on the server where it runs. If empty, the service uses the embedded engine."
        ),
    )
    clickhouse_user: str = Field(
        "default",
        title="User name at the ClickHouse server",
        description=(
            "The user needs the rights to read all tables, to write the service's own databases and to cancel queries."
        ),
    )
    clickhouse_password: SecretStr = Field(
        SecretStr(""),
        title="Password at the ClickHouse server",
        description="Other processes of the same user on this machine can read environment variables.",
    )
    clickhouse_ca: Path | None = Field(
        None,
        title="Certificate authority of the ClickHouse servers",
        description="A PEM file, for https addresses. By default the authorities that the operating system trusts.",
    )
    clickhouse_silence: int = Field(
        3600,
        ge=1,
        title="Maximum time in which the ClickHouse server returns no row of a query, in seconds",
        description="After this time the query is cancelled. The service detects an unreachable server much sooner.",
    )

    @field_validator("clickhouse_url")
    @classmethod
    def _check_server_urls(cls, value: str) -> str:
        urls = [check_server_url(part.strip()) for part in value.split(",")] if value.strip() else []
        if not all(urls) or len(set(urls)) < len(urls):
            raise ValueError("give each address once, separated by commas")
        return ",".join(urls)

    @property
    def clickhouse_urls(self) -> tuple[str, ...]:
        return tuple(self.clickhouse_url.split(",")) if self.clickhouse_url else ()
