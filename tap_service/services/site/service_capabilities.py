"""The contents of /capabilities, from the settings and the tables of functions and formats."""

from __future__ import annotations

import math
from collections.abc import Iterator

from adql import EXTENSIONS, FEATURE_TYPE, GEOMETRY_NAMES, LANGUAGE_FEATURES, OBJECT_NAME_FUNCTIONS, USER_DEFINED
from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.obscore import find_data_models
from tap_service.config import Config
from tap_service.constants import LINKS_PATH
from tap_service.documents.service_description import Feature, FeatureList, Limit, ServiceDescription
from tap_service.services.site.authenticator import Authenticator


def _list_functions(config: Config, catalogue: Catalogue) -> Iterator[Feature]:
    knows_names = bool(config.sesame_url) or any(entry.table.names for entry in catalogue.entries)
    for function in USER_DEFINED:
        if knows_names or function not in OBJECT_NAME_FUNCTIONS:
            yield from (Feature(form, function.description) for form in function.signatures)


def describe_service(
    config: Config, authenticator: Authenticator, catalogue: Catalogue, tap_url: str
) -> ServiceDescription:
    """Describe the TAP service.

    Parameters
    ----------
    config : Config
        The settings.
    authenticator : Authenticator
        The login methods.
    catalogue : Catalogue
        The tables that the client sees, which determine the data models.
    tap_url : str
        The URL of the TAP service, without a slash at its end.
    """
    features = (
        FeatureList("udf", tuple(_list_functions(config, catalogue))),
        FeatureList("adqlgeo", tuple(Feature(name) for name in GEOMETRY_NAMES)),
        *(
            FeatureList(kind.removeprefix("features-"), tuple(Feature(form) for form in forms))
            for kind, forms in LANGUAGE_FEATURES.items()
        ),
        FeatureList(FEATURE_TYPE, tuple(Feature(form, description) for form, description in EXTENSIONS)),
    )
    data_models = find_data_models(catalogue)
    return ServiceDescription(
        base_url=tap_url,
        title=config.title,
        description=config.description,
        features=features,
        data_models=data_models,
        links_url=f"{tap_url.removesuffix('/tap')}{LINKS_PATH}" if data_models else "",
        retention_period=Limit(config.retention_seconds, config.hard_retention_seconds),
        execution_duration=Limit(config.async_seconds, config.async_hard_seconds),
        sync_duration=Limit(math.ceil(config.sync_seconds), math.ceil(config.sync_seconds)),
        output_limit=Limit(config.default_maxrec, config.hard_maxrec),
        job_output_limit=Limit(config.default_maxrec, config.async_hard_maxrec),
        has_mode_limits=config.tapregext == "1.1",
        upload_methods=("inline", "http", "https"),
        upload_limit=Limit(config.upload_bytes, config.upload_bytes),
        anonymous=authenticator.anonymous,
        security_methods=tuple(method.standard_id for method in authenticator.login_methods),
    )
