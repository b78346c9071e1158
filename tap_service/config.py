"""Settings, read from environment variables ``SKYHOUSE_*``; docs/configuration.md has them all (a test compares)."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from difflib import get_close_matches
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

Network = IPv4Network | IPv6Network

_PREFIX = "SKYHOUSE_"

#: of the commands, and of tests and benchmarks
_OTHERS = ("DATA", "BENCH_DATA", "EXAMPLES", "IVOA_QUERIES")


class ConfigError(Exception):
    """A setting cannot be used; the message says which, why, and the way out."""


def read_config(environment: Mapping[str, str] = os.environ) -> Config:
    """The settings of the environment. Raises ConfigError, also for a name that is no setting."""
    known = (*(name.upper() for name in Config.model_fields), *_OTHERS)
    for name in environment:
        if name.startswith(_PREFIX) and name.removeprefix(_PREFIX) not in known:
            near = get_close_matches(name.removeprefix(_PREFIX), known, 1)
            hint = f": did you mean {_PREFIX}{near[0]}?" if near else "; docs/configuration.md has them all"
            raise ConfigError(f"{name} is no setting{hint}")
    try:
        return Config.model_validate({})
    except ValidationError as error:
        first = error.errors()[0]
        where = "_".join(str(part) for part in first["loc"]).upper()
        raise ConfigError(f"the setting {_PREFIX}{where} cannot be used: {first['msg']}") from error


class Config(BaseSettings):
    model_config = SettingsConfigDict(env_prefix=_PREFIX, frozen=True, extra="forbid")

    title: str = Field(
        "Skyhouse",
        title="Name of the service",
        description="Shown on the landing page, in the examples and in every VOTable.",
    )
    description: str = Field(
        "TAP service over ClickHouse",
        title="What the service offers",
        description="A sentence or two for /capabilities and the landing page.",
    )
    contact: str = Field(
        "",
        title="Whom to ask",
        description="A mail address or a web page, shown on the landing page.",
    )
    public_url: str = Field(
        "",
        title="Address of the service as its users see it",
        description=(
            "Such as https://example.org/archive: the part of the address before /tap. "
            "Empty: taken from the headers of a trusted proxy, else from the request."
        ),
    )
    trusted_proxies: Annotated[tuple[Network, ...], NoDecode] = Field(
        (ip_network("127.0.0.0/8"), ip_network("::1")),
        title="Proxies whose headers are believed",
        description=(
            "Addresses or networks, separated by commas. Forwarded and X-Forwarded-For, -Proto, -Host and -Prefix "
            "of anybody else are ignored. Empty: nobody is believed."
        ),
    )
    anonymous: bool = Field(
        True,
        title="Whether anybody may ask",
        description=(
            "false: only users, by name and password or by token; /availability and /capabilities answer everybody."
        ),
    )
    accounts: Path | None = Field(
        None,
        title="The file of users",
        description=(
            "Written by skyhouse user. By default accounts.sqlite in the data directory; "
            "the processes of one deployment share it."
        ),
    )
    token_issuers: Path | None = Field(
        None,
        title="A YAML file of issuers of JSON Web Tokens",
        description=(
            "A list of entries with name, issuer, audience, keys (a JSON Web Key Set file beside it), and if wanted "
            "user_claim and admins. A token's user is called name:user."
        ),
    )
    sync_seconds: float = Field(
        10.0,
        gt=0,
        title="Time limit of a synchronous query, in seconds",
        description="Counts what the engine works on the query, neither waiting for a place nor the download.",
    )
    default_maxrec: int = Field(
        100_000,
        ge=1,
        title="Row limit of a request that gives no MAXREC",
        description="A result that was cut says so, with the number and the way out.",
    )
    hard_maxrec: int = Field(
        10_000_000,
        ge=1,
        title="Row limit of any request",
        description="A higher MAXREC is taken as this number.",
    )
    async_hard_maxrec: int = Field(
        100_000_000,
        ge=1,
        title="Row limit of any job",
        description="A higher MAXREC is taken as this number. A job without MAXREC has the same limit as any request.",
    )
    async_seconds: int = Field(
        3600,
        ge=1,
        title="Execution duration that a job gets, in seconds",
        description="A job that has worked for so long is ABORTED and says why. Its owner may ask for another one.",
    )
    async_hard_seconds: int = Field(
        86_400,
        ge=1,
        title="Longest execution duration of a job, in seconds",
        description="A longer one, and 0, which means without end, is taken as this number.",
    )
    retention_seconds: int = Field(
        7 * 86_400,
        ge=1,
        title="How long a job and its result are kept, in seconds",
        description="From its creation to its destruction time. Its owner may ask for another time.",
    )
    hard_retention_seconds: int = Field(
        30 * 86_400,
        ge=1,
        title="How long a job and its result may be kept, in seconds",
        description="A later destruction time is taken as this long after the request for it.",
    )
    concurrent_jobs: int = Field(
        max(1, os.cpu_count() or 1),
        ge=1,
        title="Long jobs that run at once",
        description=(
            "As many as the engine has cores, which is the default on one machine. Short ones, of up to ten seconds, "
            "have as many places of their own, and of the long ones' places half are for jobs above ten minutes. "
            "The rest are QUEUED; users take turns."
        ),
    )
    user_running_jobs: int = Field(
        max(1, os.cpu_count() or 1),
        ge=1,
        title="Jobs of one user that run at once",
        description="Short ones too. An anonymous user is an address. By default the number of processor cores.",
    )
    user_waiting_jobs: int = Field(
        500,
        ge=1,
        title="Jobs of one user that wait",
        description="Running another one gets 429, and is asked to come back; the job stays PENDING.",
    )
    waiting_jobs: int = Field(
        5000,
        ge=1,
        title="Jobs that wait",
        description="When as many wait, running another one gets 503, and is asked to come back.",
    )
    piece_seconds: float = Field(
        60.0,
        ge=0,
        title="Longest work at a time in a job, in seconds",
        description=(
            "A job that is foreseen to work longer is done in pieces of about so long, if its query allows it: "
            "what is done of it is not lost with the process that does it. 0: no job is."
        ),
    )
    jobs_path: Path | None = Field(
        None,
        title="Directory for jobs and their results",
        description="It outlives the process. By default jobs in the data directory.",
    )
    clickhouse_url: str = Field(
        "",
        title="Addresses of ClickHouse servers",
        description=(
            "Such as http://ch1:8123 or https://ch1:8443; several ones of the same cluster are separated by commas, "
            "the same in every process of the service. No balancer of several, for a query is stopped where it runs. "
            "Empty: the engine embedded in the service."
        ),
    )
    clickhouse_user: str = Field(
        "default",
        title="User at the ClickHouse server",
        description="It may read all, write the service's own databases, and end queries.",
    )
    clickhouse_password: SecretStr = Field(
        SecretStr(""),
        title="Password at the ClickHouse server",
        description="As environment variables go, others of the same user on this machine can read it.",
    )
    clickhouse_ca: Path | None = Field(
        None,
        title="Who signs the certificates of the ClickHouse servers",
        description="A PEM file, for addresses with https. By default whom the operating system trusts.",
    )
    clickhouse_silence: int = Field(
        3600,
        ge=1,
        title="How long the ClickHouse server may send nothing within a query, in seconds",
        description=(
            "A query that gives no row for so long is given up. A server that has vanished is noticed much earlier."
        ),
    )
    redis_url: str = Field(
        "",
        title="Address of a Redis server",
        description=(
            "Such as redis://host:6379/0. Jobs are kept there and done by skyhouse-worker processes, which needs a "
            "ClickHouse server. Empty: jobs are the service's own."
        ),
    )
    worker_silence: float = Field(
        30.0,
        gt=0,
        title="When a worker is dead, in seconds",
        description=(
            "A worker that has not been heard of for so long has lost its job to another one; those that live are "
            "heard of every half second. The clocks of all machines agree better than that."
        ),
    )
    results_url: str = Field(
        "",
        title="Where the results of jobs are kept",
        description=(
            "A directory, or an address that fsspec knows, such as s3://bucket/results (with skyhouse[s3] installed); "
            "the service and its workers share it. Jobs in Redis need one. "
            "By default results in the directory for jobs."
        ),
    )
    max_query_length: int = Field(
        500_000,
        ge=1000,
        le=1_000_000,
        title="Longest query, in characters",
        description="A longer one is refused before it is read as ADQL.",
    )
    concurrent_queries: int = Field(
        max(2, os.cpu_count() or 1),
        ge=1,
        title="Queries that run at once",
        description="The rest wait their turn. By default the number of processor cores, two at least.",
    )
    waiting_queries: int = Field(
        100,
        ge=0,
        title="Queries that may wait",
        description="When as many wait, the next client gets 503 and is asked to come back.",
    )
    query_memory: int = Field(
        4 << 30,
        ge=0,
        title="Memory of one query in the engine, in bytes",
        description="A query that needs more fails and says so. 0: the engine's own limit.",
    )
    spool_memory: int = Field(
        256 << 20,
        ge=0,
        title="Memory for results on their way to clients, in bytes",
        description="Shared by all results; one result takes a sixteenth of it at most and goes on in a file.",
    )
    spool_disk: int = Field(
        16 << 30,
        ge=0,
        title="Disk for results on their way to clients, in bytes",
        description=(
            "Shared by all results. When it is full, the result that needs more is ended with an error. "
            "Results in FITS, text and VOTable's BINARY, which begin with what depends on all rows, wait in as much "
            "again; so do files of requests."
        ),
    )
    spool_path: Path = Field(
        Path(tempfile.gettempdir()),
        title="Directory for results on their way to clients",
        description=(
            "The files have no names there and vanish with the process. By default the system's temporary directory."
        ),
    )
    upload_bytes: int = Field(
        256 << 20,
        ge=1,
        title="Size of the uploaded tables of one request, in bytes",
        description="As they are sent. Unpacked, and as rows, each may have four times as many.",
    )
    upload_rows: int = Field(
        10_000_000, ge=1, title="Rows of an uploaded table", description="A longer one is refused."
    )
    upload_columns: int = Field(
        1000, ge=1, le=5000, title="Columns of an uploaded table", description="A wider one is refused."
    )
    upload_cell_bytes: int = Field(
        1 << 20,
        ge=1,
        title="Size of one value of an uploaded table, in bytes",
        description="Of a text in UTF-8, or an array.",
    )
    upload_seconds: int = Field(
        60,
        ge=1,
        title="Time to read an uploaded table, in seconds",
        description="Of processor time; fetching one from another server may take as long besides.",
    )
    upload_memory: int = Field(
        3 << 30,
        ge=1 << 29,
        title="Memory to read an uploaded table, in bytes",
        description="Of address space: a process of its own reads each table.",
    )
    upload_hosts: Annotated[tuple[str, ...], NoDecode] = Field(
        (),
        title="Hosts of the own network that tables may be fetched from",
        description=(
            "Names, separated by commas. A table of an UPLOAD with an address is fetched from public addresses only, "
            "and from these hosts whatever their addresses are."
        ),
    )
    user_tables: int = Field(
        100,
        ge=0,
        title="Tables that a user may keep",
        description="Of their own, in the schema mydb. 0: users have no tables of their own.",
    )
    user_table_bytes: int = Field(
        10 << 30,
        ge=0,
        title="Disk for the tables of one user, in bytes",
        description="As the engine stores them, compressed.",
    )
    user_table_file: int = Field(
        1 << 30,
        ge=1,
        title="Largest file that is loaded into a user's table, in bytes",
        description=(
            "As it is sent, or as a job has stored its result. Unpacked, and as rows, it may have four times as many."
        ),
    )
    user_table_seconds: int = Field(
        600,
        ge=1,
        title="Time to read a file that is loaded into a user's table, in seconds",
        description="Of processor time.",
    )
    user_table_days: int = Field(
        90,
        ge=0,
        title="How long a user's table is kept, in days",
        description="Since it was last changed or used in a query. 0: until its owner removes it.",
    )
    query_log: str = Field(
        "-",
        title="Where the query log goes",
        description="A file to which one line of JSON a query is appended; - is standard error; empty: no log.",
    )
    sesame_url: str = Field(
        "",
        title="Address of the service that knows the positions of named objects",
        description=(
            "The CDS' Sesame, such as https://cds.unistra.fr/cgi-bin/nph-sesame, which is asked for the names in "
            "ivo_simbadpoint. Empty: no other service is asked, and ivo_simbadpoint is refused."
        ),
    )

    @field_validator("trusted_proxies", mode="before")
    @classmethod
    def _networks(cls, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        return tuple(ip_network(part.strip(), strict=False) for part in value.split(",") if part.strip())

    @field_validator("upload_hosts", mode="before")
    @classmethod
    def _names(cls, value: Any) -> Any:
        return (
            tuple(part.strip().lower() for part in value.split(",") if part.strip())
            if isinstance(value, str)
            else value
        )

    @field_validator("sesame_url")
    @classmethod
    def _server(cls, value: str) -> str:
        parts = urlsplit(value)
        if value and (parts.scheme not in ("http", "https") or not parts.hostname):
            raise ValueError("give an address such as http://ch1:8123")
        if parts.username or parts.password or parts.query or parts.fragment:
            raise ValueError("give the address alone, and user and password in settings of their own")
        return value.rstrip("/")

    @field_validator("clickhouse_url")
    @classmethod
    def _servers(cls, value: str) -> str:
        urls = [cls._server(part.strip()) for part in value.split(",")] if value.strip() else []
        if not all(urls) or len(set(urls)) < len(urls):
            raise ValueError("give each address once, with a comma between two of them")
        return ",".join(urls)

    @field_validator("redis_url")
    @classmethod
    def _redis(cls, value: str) -> str:
        if value and urlsplit(value).scheme not in ("redis", "rediss", "unix"):
            raise ValueError("give an address such as redis://host:6379/0")
        return value

    @field_validator("public_url")
    @classmethod
    def _absolute(cls, value: str) -> str:
        parts = urlsplit(value)
        if value and (parts.scheme not in ("http", "https") or not parts.netloc or parts.query or parts.fragment):
            raise ValueError("give an absolute address such as https://example.org/archive")
        return value.rstrip("/").removesuffix("/tap")

    @model_validator(mode="after")
    def _ordered(self) -> Config:
        if self.default_maxrec > self.hard_maxrec:
            raise ValueError("default_maxrec is above hard_maxrec")
        if self.async_seconds > self.async_hard_seconds:
            raise ValueError("async_seconds is above async_hard_seconds")
        if self.retention_seconds > self.hard_retention_seconds:
            raise ValueError("retention_seconds is above hard_retention_seconds")
        if self.redis_url and not self.clickhouse_url:
            raise ValueError("redis_url needs clickhouse_url: workers cannot use an engine in another process")
        if self.redis_url and not self.results_url:
            raise ValueError("redis_url needs results_url: the workers write results and the service reads them")
        return self

    @property
    def clickhouse_urls(self) -> tuple[str, ...]:
        return tuple(self.clickhouse_url.split(",")) if self.clickhouse_url else ()
