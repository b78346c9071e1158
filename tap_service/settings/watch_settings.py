"""Settings of watches: how many users may have, what a run may take, and where its messages may go."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field, SecretStr, field_validator

from tap_service.settings.setting_values import split_list


class WatchSettings(BaseModel):
    user_watches: int = Field(
        20,
        ge=0,
        title="Maximum number of watches of one user",
        description="A watch is a query that runs on the new rows of each addition to a table. 0: no watches.",
    )
    watch_seconds: int = Field(
        600,
        ge=1,
        title="Time limit of one run of a watch, in seconds",
        description="SKYHOUSE_ASYNC_HARD_SECONDS limits this time too.",
    )
    watch_rows: int = Field(
        1_000_000,
        ge=1,
        title="Maximum number of rows of one run of a watch",
        description="A run whose result has more rows fails and adds no rows.",
    )
    watch_days: int = Field(
        7,
        ge=1,
        title="Retention of the rows of an addition for watches, in days",
        description=(
            "These rows are a copy, which is dropped when all watches of the table have run. It is kept for this time "
            "if a watch is paused or has failed."
        ),
    )
    webhooks: bool = Field(
        True,
        title="Permission for webhooks of watches",
        description="If false, watches post no messages, and watches with a webhook cannot be created.",
    )
    webhook_hosts: tuple[str, ...] = Field(
        (),
        title="Hosts of the local network to which webhooks may be sent",
        description=(
            "name:port, or a name for all its ports, separated by commas. Messages are sent only to public addresses "
            "and to these hosts."
        ),
    )
    smtp_host: str = Field(
        "",
        title="Mail server",
        description=(
            "Watches send mail through this server, only to addresses that are set with skyhouse user mail. If empty, "
            "they send no mail."
        ),
    )
    smtp_port: int = Field(
        587,
        ge=1,
        le=65535,
        title="Port of the mail server",
        description="587 for starttls, 465 for tls, 25 for a server of the local network.",
    )
    smtp_security: Literal["starttls", "tls", "none"] = Field(
        "starttls",
        title="Encryption to the mail server",
        description="starttls, tls, or none. none is for a server of the local network; the password is then not sent.",
    )
    smtp_user: str = Field(
        "",
        title="User at the mail server",
        description="If empty, the service does not log in.",
    )
    smtp_password: SecretStr = Field(
        SecretStr(""),
        title="Password at the mail server",
        description="Other processes of the same user on this machine can read environment variables.",
    )
    smtp_from: str = Field(
        "",
        title="Sender address of mails",
        description="For example skyhouse@example.org. The mail server must accept it.",
    )

    @field_validator("webhook_hosts", mode="before")
    @classmethod
    def _split_webhook_hosts(cls, value: Any) -> Any:
        return split_list(value.lower()) if isinstance(value, str) else value
