"""``skyhouse registry check``: the records that a file of registry metadata and the tables would make."""

from __future__ import annotations

from pathlib import Path

from clickhouse_schema.engine_tables.catalogue_log import read_catalogue
from clickhouse_schema.visible_tables import EVERYBODY, select_visible
from loaders.control.service_settings import read_settings
from loaders.load_error import LoadError
from loaders.progress_reporter import Reporter
from tap_service.factory.services import build_authenticator
from tap_service.models.timestamps import format_second
from tap_service.services.registry.published_records import draft_records, find_collections
from tap_service.services.registry.registry_file import RegistryFileError, parse_registry_file
from tap_service.services.site.service_capabilities import describe_service
from tap_service.storage.accounts import Accounts
from tap_service.storage.engine.engine import Engine

_UNKNOWN_URL = "https://address.not.known"


def check_registry(engine: Engine, text: str, source: str, data_path: Path, as_xml: bool, reporter: Reporter) -> None:
    """Report the records, as names or as XML, and the tables that collections name and that do not exist.

    Parameters
    ----------
    engine : Engine
        Has the tables.
    text, source : str
        The content of the file, and its name for messages.
    data_path : Path
        Data directory.
    as_xml : bool
        Report complete records, one after the other.
    reporter : Reporter
        Receives them.

    Raises
    ------
    LoadError
        The file or the settings cannot be used.
    """
    try:
        metadata = parse_registry_file(text, source)
    except RegistryFileError as error:
        raise LoadError(str(error)) from error
    config = read_settings(data_path)
    if not config.public_url:
        reporter.message(
            f"warning: SKYHOUSE_PUBLIC_URL is not set, so the records say {_UNKNOWN_URL}; the service needs it"
        )
    base_url = config.public_url or _UNKNOWN_URL
    catalogue = select_visible(read_catalogue(engine), frozenset({EVERYBODY}))
    for described in find_collections(metadata, catalogue.entries):
        for name in described.missing:
            loss = "" if described.entries else ", so it has no record"
            reporter.message(f"warning: collection {described.collection.id}: there is no table {name}{loss}")
    authenticator = build_authenticator(config, Accounts(config.accounts) if config.accounts else None)
    try:
        service = describe_service(config, authenticator, catalogue, f"{base_url}/tap")
    finally:
        authenticator.close()
    for draft in draft_records(engine, metadata, service, catalogue, base_url):
        if as_xml:
            reporter.output(draft.write_resource(format_second(0)))
        else:
            reporter.output(f"{draft.identifier:<50} {draft.title}")
