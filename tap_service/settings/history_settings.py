"""Settings of the history of users' queries."""

from __future__ import annotations

from pydantic import BaseModel, Field


class HistorySettings(BaseModel):
    history_queries: int = Field(
        10_000,
        ge=0,
        title="Maximum number of queries of one user in the history",
        description=(
            "/tap/history keeps the newest queries of each user up to this number, even after their jobs are deleted. "
            "Queries of anonymous clients are not kept. 0: no history."
        ),
    )
    history_days: int = Field(
        365,
        ge=1,
        le=36_500,
        title="Retention of a query in the history, in days",
        description=(
            "An older query is not shown, and is deleted when the next query is added. Users can delete their own "
            "history at any time."
        ),
    )
