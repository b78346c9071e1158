"""The requests of commands with few arguments that work on the data."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from loaders.command_request import CommandRequest


class ArgumentlessRequest(CommandRequest):
    """A command without arguments."""

    command: Literal["tables", "grants", "match list", "shards prepare"]


class TableRequest(CommandRequest):
    """``table``: the ``schema.table`` to work on; '' stands for all kept matches in 'match follow'."""

    command: Literal["verify", "rebuild", "drop", "match follow", "match drop"]
    table: str


class SchemaRequest(CommandRequest):
    """``schema_file``: the YAML to compare the engine with, or to apply."""

    command: Literal["schema diff", "schema plan", "schema apply"]
    schema_file: Path


class ShardsRequest(CommandRequest):
    """``shards``: the number of shards to use; 0 for all."""

    command: Literal["shards plan", "shards move"]
    shards: int


class GrantRequest(CommandRequest):
    """``target``: a schema, or ``schema.table``; ``group``: who may see it."""

    command: Literal["grant", "revoke"]
    target: str
    group: str


class UserRequest(CommandRequest):
    """``user``: whose tables; '' for all users in 'user tables'."""

    command: Literal["user tables", "user forget"]
    user: str


class UserTableRequest(CommandRequest):
    """``table``: the table of ``user`` to drop; '' for all."""

    command: Literal["user drop-table"] = "user drop-table"
    user: str
    table: str


class RegistryRequest(CommandRequest):
    """The registry file to check.

    Attributes
    ----------
    text, source
        The content of the file, and its name for messages.
    data_path
        Directory of the data.
    as_xml
        Report complete records.
    """

    command: Literal["registry check"] = "registry check"
    text: str
    source: str
    data_path: Path
    as_xml: bool


class AdqlRequest(CommandRequest):
    """``query``: the ADQL to translate; ``explain``: report its steps and the engine's plan too."""

    command: Literal["adql"] = "adql"
    query: str
    explain: bool
