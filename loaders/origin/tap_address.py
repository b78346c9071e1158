"""Recognises the addresses of TAP services.

``tap+https://host/tap`` always is. A plain http or https address is, if its ``capabilities`` name TAP or its
``tables`` are a tableset; a HATS catalogue has neither.
"""

from __future__ import annotations

from collections.abc import Callable

from loaders.origin.origin_client import OriginAnswer, OriginClient, check_address
from loaders.origin.origin_error import OriginError
from tap_service.readers.vosi_table_reader import TABLESET_ROOTS, find_root_name

TAP_PREFIX = "tap+"
_TAP_STANDARD = b"ivo://ivoa.net/std/tap"
_MAX_CAPABILITIES = 4 << 20
_ROOT_BYTES = 1 << 16


def find_tap_service(client: OriginClient, text: str) -> str:
    """Return the address of the TAP service that a text names.

    Parameters
    ----------
    client : OriginClient
        Asks a plain address for its capabilities and its tables.
    text : str
        What an operator gave: a file, an address, or ``tap+`` with an address.

    Returns
    -------
    str
        http or https address without a slash at its end; '' if the text names no TAP service.

    Raises
    ------
    OriginError
        A web address is not allowed, or has a query or a fragment.
    """
    is_named = text.startswith(TAP_PREFIX)
    address = text.removeprefix(TAP_PREFIX).rstrip("/")
    if not is_named and not address.startswith(("http://", "https://")):
        return ""
    check_address(address)
    if "?" in address or "#" in address:
        raise OriginError(f"{address[:200]!r} is not the address of a TAP service: leave out ? and #")
    return address if is_named or _answers_as_tap(client, address) else ""


def _answers_as_tap(client: OriginClient, address: str) -> bool:
    return _ask(client, f"{address}/capabilities", _names_tap) or _ask(client, f"{address}/tables", _is_tableset)


def _ask(client: OriginClient, address: str, test: Callable[[OriginAnswer], bool]) -> bool:
    try:
        return client.get(address, test)
    except OriginError:
        return False


def _names_tap(answer: OriginAnswer) -> bool:
    document = b"".join(answer.read_pieces(_MAX_CAPABILITIES))
    return find_root_name(document) == "capabilities" and _TAP_STANDARD in document.lower()


def _is_tableset(answer: OriginAnswer) -> bool:
    document = b""
    for piece in answer.read_pieces(1 << 30):
        document += piece
        if len(document) >= _ROOT_BYTES:
            break
    return find_root_name(document) in TABLESET_ROOTS
