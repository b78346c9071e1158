"""Settings of the site: its name, its address and its users."""

from __future__ import annotations

from importlib.util import find_spec
from ipaddress import ip_network
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, Field, field_validator

from tap_service.settings.setting_values import Network, check_public_folder, check_server_url, split_list

#: the headers of proxies that count: X-Forwarded-*, or Forwarded of RFC 7239
ProxyHeader = Literal["x-forwarded", "forwarded"]


class SiteSettings(BaseModel):
    title: str = Field(
        "Skyhouse",
        title="Name of the service",
        description="Shown on the landing page, in the examples and in every VOTable.",
    )
    description: str = Field(
        "TAP service over ClickHouse",
        title="Description of the service",
        description="One or two sentences for /capabilities and the landing page.",
    )
    contact: str = Field(
        "",
        title="Contact",
        description="A mail address or a web page, shown on the landing page.",
    )
    tapregext: Literal["1.0", "1.1"] = Field(
        "1.0",
        title="Version of TAPRegExt in /capabilities",
        description=(
            "1.1 (a draft) distinguishes the limits of /sync requests and the limits of jobs, but STILTS 3.5 and "
            "TOPCAT 4.10 report such a document as invalid. As JSON, /capabilities always contains both limits."
        ),
    )
    public_url: str = Field(
        "",
        title="Public address of the service",
        description=(
            "The part of the address before /tap, for example https://example.org/archive. If empty, the address is "
            "taken from the headers of a trusted proxy, or else from the request; the URLs in messages of watches "
            "then have no host."
        ),
    )
    trusted_proxies: tuple[Network, ...] = Field(
        (ip_network("127.0.0.0/8"), ip_network("::1")),
        title="Trusted proxies",
        description=(
            "Addresses or networks, separated by commas. The service ignores the headers Forwarded and "
            "X-Forwarded-For, -Proto, -Host and -Prefix from all other clients. If empty, it trusts no client."
        ),
    )
    proxy_header: ProxyHeader = Field(
        "x-forwarded",
        title="Headers that are used from trusted proxies",
        description=(
            "x-forwarded: X-Forwarded-For, -Proto, -Host and -Prefix. forwarded: Forwarded (RFC 7239), with the path "
            "in its parameter prefix. The service ignores the other headers. The proxy must set or remove every "
            "header that is used; otherwise it passes on headers in which a client may have written anything."
        ),
    )
    anonymous: bool = Field(
        True,
        title="Anonymous access",
        description=(
            "If false, only users with a name and password or a token may use the service; /availability and "
            "/capabilities stay public."
        ),
    )
    metrics_from: tuple[Network, ...] = Field(
        (ip_network("127.0.0.0/8"), ip_network("::1")),
        title="Who may read /metrics",
        description=(
            "Addresses or networks, separated by commas, in addition to administrators. Other clients get 403. For a "
            "request through a proxy, the address of the client is checked; the request is refused if the proxy is "
            "not trusted or does not send this address."
        ),
    )
    accounts: Path | None = Field(
        None,
        title="File of users",
        description=(
            "The command skyhouse user writes this file. By default accounts.sqlite in the data directory; all "
            "processes of one deployment share it."
        ),
    )
    token_issuers: Path | None = Field(
        None,
        title="YAML file of issuers of JSON Web Tokens",
        description=(
            "A list of entries with name, issuer, audience, keys (a JSON Web Key Set file in the same directory) and "
            "optionally user_claim, admins and groups_claim (the claim that lists the user's groups). The user of a "
            "token is called name:user, and a group name:group. Names of users or groups that have more than 200 "
            "characters or contain an unprintable character are not accepted."
        ),
    )
    registry: Path | None = Field(
        None,
        title="YAML file for the registry",
        description=(
            "With this file, the service publishes records of itself and its data for the IVOA registry at /oai "
            "(docs/registry.md). The file is read again when it changes. Requires SKYHOUSE_PUBLIC_URL."
        ),
    )
    registry_state: Path | None = Field(
        None,
        title="File of published records",
        description=(
            "An SQLite file with the dates of the registry's records, including deleted records. By default "
            "registry.sqlite in the data directory; all processes of one deployment share it."
        ),
    )
    blocked: Path | None = Field(
        None,
        title="File of blocked addresses",
        description=(
            "One address or network per line, with a reason after #. Requests from these addresses get 403 with the "
            "contact. The command skyhouse block writes this file; a change takes effect within a second. By default "
            "blocked.txt in the data directory."
        ),
    )
    query_log: str = Field(
        "-",
        title="Query log",
        description="A file to which the service appends one line of JSON per query. -: standard error. Empty: no log.",
    )
    sesame_url: str = Field(
        "",
        title="Address of the name resolver",
        description=(
            "A CDS Sesame service, such as https://cds.unistra.fr/cgi-bin/nph-sesame, which resolves object names that "
            "no table declares. If empty, the service asks no other host for names."
        ),
    )
    surveys: tuple[str, ...] = Field(
        (),
        title="Background surveys of the sky map",
        description=(
            "Addresses of HiPS, separated by commas, from which users of the portal may choose the background of its "
            "map. Their browsers fetch the images from there, so the page's content security policy permits these "
            "addresses. If empty, the portal contacts no other host."
        ),
    )
    aladin_lite: Path | None = Field(
        None,
        title="Path of Aladin Lite",
        description=(
            "The file aladin.js of Aladin Lite 3, which is not part of Skyhouse and has its own licence (GPL-3). With "
            "this file, the portal offers a page that shows the service's rows over the surveys of SKYHOUSE_SURVEYS."
        ),
    )

    mcp: bool = Field(
        False,
        title="Endpoint for agents",
        description=(
            "If true, programs with language models can query the service through the Model Context Protocol, at /mcp "
            "(docs/mcp.md). Requires the package mcp: pip install 'skyhouse[mcp]'."
        ),
    )

    @field_validator("mcp")
    @classmethod
    def _check_mcp(cls, value: bool) -> bool:
        if value and find_spec("mcp_types") is None:  # which version 1 lacks
            raise ValueError(
                "the package mcp is not installed in version 2: pip install 'skyhouse[mcp]', or leave it false"
            )
        return value

    @field_validator("surveys", mode="before")
    @classmethod
    def _check_surveys(cls, value: Any) -> Any:
        parts = split_list(value) if isinstance(value, str) else value
        return tuple(check_public_folder(part) for part in parts)

    @field_validator("trusted_proxies", "metrics_from", mode="before")
    @classmethod
    def _split_networks(cls, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        return tuple(ip_network(part, strict=False) for part in split_list(value))

    @field_validator("public_url")
    @classmethod
    def _check_public_url(cls, value: str) -> str:
        parts = urlsplit(value)
        if value and (parts.scheme not in ("http", "https") or not parts.netloc or parts.query or parts.fragment):
            raise ValueError("give an absolute address such as https://example.org/archive")
        return value.rstrip("/").removesuffix("/tap")

    @field_validator("sesame_url")
    @classmethod
    def _check_sesame_url(cls, value: str) -> str:
        return check_server_url(value)
