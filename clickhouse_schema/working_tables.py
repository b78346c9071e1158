"""Names of the working tables of commands, which recreate them if they are missing."""

#: Suffix of the table that a load fills until it is published
STAGING_SUFFIX = "__loading"

#: Suffix of the gateway table for rows that corrections move to another part of the table
MOVED_SUFFIX = "__moved"

#: Suffix of the table from which a gateway table gets the shards of its rows
HOMES_SUFFIX = "__homes"

#: Prefix of the tables of corrections, in the database of Skyhouse itself
CORRECTION_PREFIX = "correction_"
