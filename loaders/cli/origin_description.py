"""The output of ``skyhouse describe`` for a table of another TAP service."""

from __future__ import annotations

from dataclasses import replace

from loaders.load_error import LoadError
from loaders.origin.origin_client import ORIGIN_PATIENCE, OriginClient
from loaders.origin.origin_table import read_origin_table
from loaders.origin.tap_address import find_tap_service
from loaders.pipeline.describe_origin import describe_origin
from loaders.pipeline.table_name import split_name
from loaders.progress_reporter import Reporter

#: For probing whether an address is a TAP service: it may lack the resources that are asked for
_SHORT = replace(ORIGIN_PATIENCE, attempts=2)


def print_origin_table(text: str, table: str, as_: str, reporter: Reporter) -> bool:
    """Print the schema file of a table of a TAP service.

    Parameters
    ----------
    text : str
        What the user named as the service.
    table : str
        The table of the service.
    as_ : str
        ``schema.table`` in the schema file; '' for the names of the service.
    reporter : Reporter
        Receives the schema file and notes.

    Returns
    -------
    bool
        False if ``text`` is not the address of a TAP service.

    Raises
    ------
    LoadError
        The table cannot be described, or an argument is missing.
    """
    address = find_tap_service(OriginClient(_SHORT, reporter.message), text)
    if not address:
        if as_:
            raise LoadError(
                f"{text} is not a TAP service, and --as is only for TAP services: name the table with --table"
            )
        return False
    if not table:
        raise LoadError(f"--table names the table of {address} to describe, for example --table gaiadr3.gaia_source")
    names = split_name(as_, "--as") if as_ else ("", "")
    found = read_origin_table(OriginClient(say=reporter.message), address, table)
    described = describe_origin(found, *names)
    reporter.output(described.text.rstrip())
    for note in found.notes:
        reporter.message(f"note: {note}")
    for name, reason in described.left_out.items():
        reporter.message(f"warning: {name} is left out because it cannot be loaded: {reason}")
    return True


def explain_address(text: str, error: Exception) -> str:
    """Return an addition to the message about a HATS catalogue whose address may be meant as a TAP service."""
    if isinstance(error, LoadError) or not text.startswith(("http://", "https://")):
        return ""
    return f". It does not answer as a TAP service either: write tap+{text} if it is one"
