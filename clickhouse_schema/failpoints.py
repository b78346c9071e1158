"""Named steps of a change, after which tests kill the process.

In production ``reach`` does nothing. No setting, environment variable or request changes that: ``observer`` is None
until code of the same process sets it, and only tests have such code.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum


class Failpoint(StrEnum):
    """A step that is done, or starts if its name says so; on a cluster by one server or for one shard."""

    # the tables of a load or correction
    STAGING_CREATE = "staging.create"
    STAGING_ATTACH = "staging.attach"
    STAGING_ADD_CHUNKS = "staging.add_chunks"
    STAGING_DESCRIBE = "staging.describe"
    STAGING_INSERT_BEGIN = "staging.insert_begin"
    STAGING_INSERT = "staging.insert"
    STAGING_CHANGE_BEGIN = "staging.change_begin"
    STAGING_CHANGE = "staging.change"
    STAGING_INSERT_GATEWAY = "staging.insert_gateway"
    STAGING_VERIFY = "staging.verify"
    # rows are sent to their shards, and copies of them to the overlaps of other shards
    SHARDS_SEND_COPIES = "shards.send_copies"
    SHARDS_SEND = "shards.send"
    # publishing
    PUBLISH_DROP_CHUNKS = "publish.drop_chunks"
    PUBLISH_EXCHANGE = "publish.exchange"
    PUBLISH_RENAME = "publish.rename"
    # appends into the table itself
    APPEND_INSERT = "append.insert"
    GATEWAY_CREATE = "gateway.create"
    GATEWAY_FILL = "gateway.fill"
    GATEWAY_DROP = "gateway.drop"
    # corrections
    CORRECTION_CREATE = "correction.create"
    CORRECTION_FILL = "correction.fill"
    CORRECTION_DROP = "correction.drop"
    # the table of latest versions
    LATEST_FILL_KEYS = "latest.fill_keys"
    LATEST_INSERT = "latest.insert"
    # kept matches: the change of a table is recorded, a piece is inserted, the rows are visible
    MATCH_ANNOUNCE = "match.announce"
    MATCH_PIECE = "match.piece"
    MATCH_PUBLISH = "match.publish"
    # the rows that are added to a watched table
    ADDITION_CREATE = "addition.create"
    ADDITION_INSERT = "addition.insert"
    # records in the tables of the engine
    ADDITIONS_WRITE = "additions.write"
    APPENDS_WRITE = "appends.write"
    CATALOGUE_WRITE = "catalogue.write"
    DENSITY_WRITE = "density.write"
    TAP_SCHEMA_FILL = "tap_schema.fill"
    TAP_SCHEMA_REPLACE = "tap_schema.replace"
    # mirrors: the plan is made, a file is fetched, started, recorded as loaded, deleted, all files are loaded
    MIRROR_PLAN = "mirror.plan"
    MIRROR_FETCH = "mirror.fetch"
    MIRROR_BEGIN = "mirror.begin"
    MIRROR_RECORD = "mirror.record"
    MIRROR_DELETE = "mirror.delete"
    MIRROR_PUBLISH = "mirror.publish"
    # a table is dropped
    TABLE_DROP = "table.drop"
    # shards that move
    MOVE_CREATE = "move.create"
    MOVE_FETCH = "move.fetch"
    MOVE_FETCH_COPIES = "move.fetch_copies"
    MOVE_DESCRIBE = "move.describe"


#: Called with each failpoint that is reached, on the thread that reaches it.
observer: Callable[[Failpoint], None] | None = None


def reach(point: Failpoint | None) -> None:
    """Report to the observer that a step is done.

    Parameters
    ----------
    point : Failpoint or None
        The step; None for a step without a name, which is not reported.
    """
    if observer is not None and point is not None:
        observer(point)
