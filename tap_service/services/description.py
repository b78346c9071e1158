"""What the service can do, for /capabilities: taken from the settings and the tables of functions and formats alone."""

from __future__ import annotations

from adql.functions import ADQL_GEO, FEATURES, USER_DEFINED
from tap_service.config import Config
from tap_service.documents.service import Feature, FeatureList, Limit, ServiceDescription
from tap_service.services.identity import Identities


def describe_service(config: Config, identities: Identities, tap_url: str) -> ServiceDescription:
    """True at every moment: there are no uploads, no jobs and no data models to declare yet."""
    features = (
        FeatureList("udf", tuple(Feature(function.signature, function.description) for function in USER_DEFINED)),
        FeatureList("adqlgeo", tuple(Feature(name) for name in ADQL_GEO)),
        *(
            FeatureList(kind.removeprefix("features-"), tuple(Feature(form) for form in forms))
            for kind, forms in FEATURES.items()
        ),
    )
    seconds = int(config.sync_seconds)
    return ServiceDescription(
        base_url=tap_url,
        title=config.title,
        description=config.description,
        features=features,
        execution_duration=Limit(seconds, seconds),
        output_limit=Limit(config.default_maxrec, config.hard_maxrec),
        anonymous=identities.anonymous,
        security_methods=identities.security_methods,
    )
