"""Settings of connections: how many there may be, and how long a client may take."""

from __future__ import annotations

from pydantic import BaseModel, Field


class ConnectionSettings(BaseModel):
    max_connections: int = Field(
        4000,
        ge=1,
        title="Maximum number of open connections of one process",
        description=(
            "Further connections get 503 with Retry-After. The limit cannot exceed half of the number of files that "
            "the process may open: the service raises that number up to the hard limit (ulimit -Hn), and prints a "
            "note at its start if the hard limit is too low."
        ),
    )
    client_connections: int = Field(
        100,
        ge=1,
        title="Maximum number of open connections of one client to one process",
        description=(
            "Further connections from the same address, or from the same IPv6 network of 64 bits, get 429 after two "
            "seconds, with Retry-After. Trusted proxies have no such limit."
        ),
    )
    client_requests_per_minute: int = Field(
        0,
        ge=0,
        title="Maximum number of requests of one client per minute",
        description=(
            "Applies to all requests from an address, or from an IPv6 network of 64 bits; a client may send all "
            "requests of a minute at once. Further requests get 429 with Retry-After. 0: no limit."
        ),
    )
    head_seconds: float = Field(
        10.0,
        gt=0,
        title="Maximum time to receive the headers of a request, in seconds",
        description=(
            "Starts with the connection, or on an open connection with the first byte of the next request. The "
            "service answers 408 to incomplete headers, and closes a connection on which no byte arrived."
        ),
    )
    body_silence_seconds: float = Field(
        30.0,
        gt=0,
        title="Maximum pause within the body of a request, in seconds",
        description=(
            "The service answers 408 to a body that pauses longer. The time for the complete body is limited too."
        ),
    )
    idle_seconds: float = Field(
        15.0,
        gt=0,
        title="Maximum time between two requests of a connection, in seconds",
        description="After this time the service closes the connection. A proxy must close idle connections sooner.",
    )
    unread_seconds: float = Field(
        600.0,
        gt=0,
        title="Maximum time in which a client reads nothing of its response, in seconds",
        description="After this time the service closes the connection. A client that reads slowly is not affected.",
    )
