"""The descriptor of this service's {links}, for results with obs_publisher_did of ObsCore (DataLink 1.1)."""

from __future__ import annotations

from dataclasses import replace

from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.column_links import InputParam, Service
from clickhouse_schema.obscore import find_obscore_table
from tap_service.constants import LINKS_PATH, LINKS_STANDARD

#: the standard id of {links} without version
_LINKS = LINKS_STANDARD.partition("#")[0].lower()


def is_links_service(service: Service) -> bool:
    """Return whether a service is {links} of any version of DataLink.

    Parameters
    ----------
    service : Service
        A service descriptor of the catalogue, which is recognized by its standard id.
    """
    return service.standard_id.lower().startswith(_LINKS)


def add_links_service(catalogue: Catalogue, public_url: str) -> Catalogue:
    """Add the descriptor of {links} to the ObsCore table of a catalogue.

    Parameters
    ----------
    catalogue : Catalogue
        The catalogue.
    public_url : str
        The URL of the service; '' if it is unknown, and then nothing is added.

    Returns
    -------
    Catalogue
        The catalogue; unchanged if it has no ObsCore table, or if this table declares another {links}.
    """
    entry = find_obscore_table(catalogue)
    if entry is None or not public_url:
        return catalogue
    if any(map(is_links_service, entry.table.services)):
        return catalogue
    [key] = (column.name for column in entry.table.columns if column.name.lower() == "obs_publisher_did")
    links = Service(
        name="links",
        description="URLs of a data product and of related data",
        standard_id=LINKS_STANDARD,
        access_url=f"{public_url}{LINKS_PATH}",
        content_type="application/x-votable+xml;content=datalink",
        input_params=(InputParam(name="ID", ref=key),),
    )
    table = entry.table.model_copy(update={"services": (*entry.table.services, links)})
    return catalogue.replace_entries((replace(entry, table=table),))
