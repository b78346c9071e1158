"""Settings of uploads and user tables."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field, field_validator

from tap_service.settings.setting_values import split_list


class UploadSettings(BaseModel):
    upload_bytes: int = Field(
        256 << 20,
        ge=1,
        title="Maximum size of the uploads of one request, in bytes",
        description=(
            "Applies to the files as sent. The decompressed files, and their rows, may each use four times this size."
        ),
    )
    upload_rows: int = Field(
        10_000_000,
        ge=1,
        title="Maximum number of rows of an upload",
        description="The service refuses an upload with more rows.",
    )
    upload_columns: int = Field(
        1000,
        ge=1,
        le=5000,
        title="Maximum number of columns of an upload",
        description="The service refuses an upload with more columns.",
    )
    upload_cell_bytes: int = Field(
        1 << 20,
        ge=1,
        title="Maximum size of one value of an upload, in bytes",
        description="Applies to texts, in UTF-8, and to arrays.",
    )
    upload_seconds: int = Field(
        60,
        ge=1,
        title="Maximum time to read an upload, in seconds",
        description=(
            "Counts processor time. Fetching the upload from another server may take the same time in addition."
        ),
    )
    upload_memory: int = Field(
        3 << 30,
        ge=1 << 29,
        title="Maximum memory to read an upload, in bytes",
        description="Limits the address space of the process that reads the upload.",
    )
    upload_hosts: tuple[str, ...] = Field(
        (),
        title="Hosts of the local network from which uploads may be fetched",
        description=(
            "name:port, or a name for all its ports, separated by commas. The service fetches uploads by URL only "
            "from public addresses and from these hosts."
        ),
    )

    @field_validator("upload_hosts", mode="before")
    @classmethod
    def _split_hosts(cls, value: Any) -> Any:
        return split_list(value.lower()) if isinstance(value, str) else value


class UserTableSettings(BaseModel):
    user_tables: int = Field(
        100,
        ge=0,
        title="Maximum number of user tables of one user",
        description="User tables are in the schema mydb. 0: no user tables.",
    )
    user_table_bytes: int = Field(
        10 << 30,
        ge=0,
        title="Maximum disk space for the tables of one user, in bytes",
        description="Counts the compressed size in the engine.",
    )
    user_table_file: int = Field(
        1 << 30,
        ge=1,
        title="Maximum size of a file for a user table, in bytes",
        description=(
            "Applies to a file as sent, or to a stored result of a job. The decompressed file, and its rows, may each "
            "use four times this size."
        ),
    )
    user_table_seconds: int = Field(
        600,
        ge=1,
        title="Maximum time to read a file for a user table, in seconds",
        description="Counts processor time.",
    )
    user_table_days: int = Field(
        90,
        ge=0,
        title="Retention of a user table, in days",
        description="Counts from its last change or use in a query. 0: kept until its owner deletes it.",
    )
