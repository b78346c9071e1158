"""The descriptor of the service's own {links}, which results with ObsCore's obs_publisher_did have (DataLink 1.1)."""

from __future__ import annotations

from dataclasses import replace

from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.column_links import InputParam, Service
from clickhouse_schema.obscore import find_obscore_table
from tap_service.constants import LINKS_PATH, LINKS_STANDARD

#: of services of any version
_LINKS = LINKS_STANDARD.partition("#")[0].lower()


def is_links_service(service: Service) -> bool:
    """Whether it is a {links} of any version of DataLink."""
    return service.standard_id.lower().startswith(_LINKS)


def add_links_service(catalogue: Catalogue, public_url: str) -> Catalogue:
    """Return the catalogue whose table of ObsCore, if there is one, has {links}, unless it declares others.

    ``public_url``: '' if the service does not know its own address, and adds nothing.
    """
    entry = find_obscore_table(catalogue)
    if entry is None or not public_url:
        return catalogue
    if any(map(is_links_service, entry.table.services)):
        return catalogue
    [key] = (column.name for column in entry.table.columns if column.name.lower() == "obs_publisher_did")
    links = Service(
        name="links",
        description="Addresses of a data product and of what belongs to it",
        standard_id=LINKS_STANDARD,
        access_url=f"{public_url}{LINKS_PATH}",
        content_type="application/x-votable+xml;content=datalink",
        input_params=(InputParam(name="ID", ref=key),),
    )
    table = entry.table.model_copy(update={"services": (*entry.table.services, links)})
    return catalogue.replace_entries((replace(entry, table=table),))
