"""Parses the requests that arrive at the control socket."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, TypeAdapter

from loaders.backup.backup_request import BackupRequest
from loaders.command_request import CommandRequest
from loaders.control.admin_requests import (
    AddWatchRequest,
    JobListRequest,
    JobRequest,
    JobsRequest,
    PauseWatchRequest,
    QueryListRequest,
    StopQueriesRequest,
    UserJobsRequest,
    WatchListRequest,
    WatchRequest,
)
from loaders.control.table_requests import (
    AdqlRequest,
    ArgumentlessRequest,
    GrantRequest,
    RegistryRequest,
    SchemaRequest,
    ShardsRequest,
    TableRequest,
    UserRequest,
    UserTableRequest,
)
from loaders.export.export_request import ExportRequest
from loaders.mirror.mirror_request import MirrorRequest
from loaders.pipeline.attach_request import AttachRequest
from loaders.pipeline.correction_request import CorrectionRequest
from loaders.pipeline.load_request import LoadRequest
from loaders.pipeline.match_request import MatchRequest

_TablesRequest = (
    LoadRequest
    | MirrorRequest
    | AttachRequest
    | CorrectionRequest
    | MatchRequest
    | BackupRequest
    | ExportRequest
    | ArgumentlessRequest
    | TableRequest
    | SchemaRequest
    | ShardsRequest
    | GrantRequest
    | UserRequest
    | UserTableRequest
    | RegistryRequest
    | AdqlRequest
)
_AdminRequest = (
    JobListRequest
    | JobRequest
    | JobsRequest
    | UserJobsRequest
    | QueryListRequest
    | StopQueriesRequest
    | AddWatchRequest
    | WatchListRequest
    | WatchRequest
    | PauseWatchRequest
)
_REQUESTS: TypeAdapter[CommandRequest] = TypeAdapter(
    Annotated[_TablesRequest | _AdminRequest, Field(discriminator="command")]
)


def parse_request(text: str | bytes) -> CommandRequest:
    """Return the request of a JSON document, which ``command`` tells from others.

    Raises
    ------
    pydantic.ValidationError
        The command is unknown, or has the arguments of another version.
    """
    return _REQUESTS.validate_json(text)
