"""What ``skyhouse describe`` prints of a table of another TAP service."""

from __future__ import annotations

from dataclasses import replace

from loaders.load_error import LoadError
from loaders.origin.origin_client import ORIGIN_PATIENCE, OriginClient
from loaders.origin.origin_table import read_origin_table
from loaders.origin.tap_address import find_tap_service
from loaders.pipeline.describe_origin import describe_origin
from loaders.pipeline.table_name import split_name
from loaders.progress_reporter import Reporter

#: To find out what an address is, by resources that it need not have
_SHORT = replace(ORIGIN_PATIENCE, attempts=2)


def print_origin_table(text: str, table: str, as_: str, reporter: Reporter) -> bool:
    """Print the schema file of a table of the TAP service ``text``; return False if that is no TAP service.

    Raises LoadError.
    """
    address = find_tap_service(OriginClient(_SHORT, reporter.message), text)
    if not address:
        if as_:
            raise LoadError(f"{text} is not a TAP service, for which --as is: name the table with --table")
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
        reporter.message(f"warning: {name} is left out, it cannot be loaded: {reason}")
    return True


def explain_address(text: str, error: Exception) -> str:
    """Return what to add to an error of a HATS catalogue whose address might have been a TAP service."""
    if isinstance(error, LoadError) or not text.startswith(("http://", "https://")):
        return ""
    return f". Nor do its capabilities and tables answer as a TAP service: write tap+{text} if it is one"
