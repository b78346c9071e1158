"""Settings of shares: how long and how much the service keeps of them."""

from __future__ import annotations

from pydantic import BaseModel, Field


class ShareSettings(BaseModel):
    share_days: int = Field(
        3650,
        ge=0,
        le=36_500,
        title="Retention of a share, in days",
        description=(
            "A share is a query with a permanent link, the versions of its tables and the checksum of its rows. 0: no "
            "new shares; existing shares are kept."
        ),
    )
    share_result_days: int = Field(
        365,
        ge=0,
        le=36_500,
        title="Retention of the rows of a share, in days",
        description=(
            "After this time, only the query, the versions and the checksum are kept, with which the rows can be "
            "computed and verified again. 0: rows are not kept."
        ),
    )
    user_shares: int = Field(
        1000,
        ge=1,
        title="Maximum number of shares of one user",
        description="Shares of anonymous clients are counted by address. A request for another share gets 507.",
    )
    user_share_disk: int = Field(
        5 << 30,
        ge=0,
        title="Maximum disk space for the shares of one user, in bytes",
        description=(
            "Counts the rows, uploaded files and texts of the shares. A request for another share gets 507. 0: no "
            "limit."
        ),
    )
    anonymous_share_disk: int = Field(
        500 << 20,
        ge=0,
        title="Maximum disk space for the shares of one anonymous address, in bytes",
        description="Counted in the same way as for a user; an IPv6 /64 network counts as one address.",
    )
    share_disk: int = Field(
        50 << 30,
        ge=0,
        title="Maximum disk space for the shares of all clients, in bytes",
        description="Counted in the same way as for a user, in addition to the disk space for jobs. 0: no limit.",
    )
