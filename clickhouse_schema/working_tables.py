"""Names of the tables in which commands work, and which they make again when they are missing."""

#: suffix of the table in which a load grows until it is published
STAGING_SUFFIX = "__loading"

#: suffix of the gateway table of rows whose corrections move them to another place of the table
MOVED_SUFFIX = "__moved"

#: suffix of the table that tells a gateway table the shards of its rows
HOMES_SUFFIX = "__homes"

#: prefix of the tables of corrections, in Skyhouse's own database
CORRECTION_PREFIX = "correction_"
