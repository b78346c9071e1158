"""``skyhouse block`` and ``skyhouse unblock``: blocked client addresses. A running service sees changes at once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated

import typer

from loaders.cli.command_options import Data, read_settings
from loaders.load_error import LoadError
from tap_service.services.site.blocked_networks import BlockedError, read_networks, write_networks
from tap_service.settings.setting_values import Network

Address = Annotated[str, typer.Argument(metavar="ADDRESS", help="An address or a network, such as 2001:db8::/64.")]
File = Annotated[
    Path | None,
    typer.Option(
        "--file",
        help="The file of blocked addresses.",
        show_default="the setting blocked, else in the data directory",
    ),
]


def block_address(
    data: Data,
    address: Annotated[str, typer.Argument(metavar="[ADDRESS]", help="Default: list the blocked addresses.")] = "",
    file: File = None,
    reason: Annotated[str, typer.Option(help="The reason, for operators; clients do not see it.")] = "",
) -> None:
    """Reject requests from an address or a network with 403 and the contact; or list the blocked addresses."""
    network = _parse_network(address) if address else None
    with _change_networks(data, file) as networks:
        if network is not None:
            networks[network] = " ".join(reason.split())
            typer.echo(f"{network} is blocked")
        else:
            if not networks:
                typer.echo("no address is blocked")
            for network, why in networks.items():
                typer.echo(f"{network}\t{why}")


def unblock_address(address: Address, data: Data, file: File = None) -> None:
    """Unblock an address or a network."""
    network = _parse_network(address)
    with _change_networks(data, file) as networks:
        if network not in networks:
            wider = [str(each) for each in networks if each.version == network.version and network.subnet_of(each)]  # type: ignore[arg-type]
            hint = (
                f": it belongs to {wider[0]}, which is blocked"
                if wider
                else "; `skyhouse block` lists the blocked networks"
            )
            raise BlockedError(f"{network} is not blocked{hint}")
        del networks[network]
    typer.echo(f"{network} is no longer blocked")


def _parse_network(text: str) -> Network:
    try:
        return ip_network(text, strict=False)
    except ValueError as error:
        raise typer.BadParameter(f"{error}; write 192.0.2.7 or 2001:db8::/64") from error


@contextmanager
def _change_networks(data: Path, file: Path | None) -> Iterator[dict[Network, str]]:
    """Read the file, and write it if the networks changed; errors are printed in one sentence."""
    try:
        path = file or read_settings(data).blocked
        assert path is not None  # noqa: S101  the settings of commands have all paths
        networks = read_networks(path)
        before = dict(networks)
        yield networks
        if networks != before:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_networks(path, networks)
    except (BlockedError, LoadError, OSError) as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(1) from error
