"""Requests of commands, from the arguments that a test has as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping

from loaders.command_request import CommandRequest
from loaders.control.request_parser import parse_request


def build_request(command: str, arguments: Mapping[str, object]) -> CommandRequest:
    """Return the request of a command, as the control socket would receive it."""
    return parse_request(json.dumps({"command": command, **arguments}))
