"""The request of a command: one model from the command line to the work, also on the control socket."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class CommandRequest(BaseModel):
    """A command with its arguments.

    Each subclass restricts ``command`` to the names of its commands, by which ``loaders.control.request_parser``
    recognises the JSON of a request. Paths are absolute: the process that runs a command has its own working directory.

    Attributes
    ----------
    command
        What is typed after ``skyhouse``, such as 'match make'.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    command: str
