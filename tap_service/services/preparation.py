"""From a request's parameters to an execution: what /sync and jobs have in common before the engine is asked."""

from __future__ import annotations

import time

from adql.errors import AdqlError
from adql.translate import Translation, translate
from tap_service.config import Config
from tap_service.exceptions import QueryFault
from tap_service.models.parameters import TapParameters
from tap_service.serializers import ResultInfo
from tap_service.services.execution import Execution
from tap_service.services.metadata import Metadata
from tap_service.services.names import Sesame
from tap_service.storage.engine import Engine


class Preparation:
    def __init__(self, config: Config, engine: Engine, metadata: Metadata) -> None:
        self._config = config
        self._engine = engine
        self._metadata = metadata
        self._positions = Sesame(config.sesame_url) if config.sesame_url else None

    def prepare(self, parameters: TapParameters, query_id: str, hard_maxrec: int) -> Execution:
        """Translate the query, and make all ready to run it. Raises QueryFault for what cannot be translated.

        ``hard_maxrec`` is the row limit of any such request, ``query_id`` the engine's name for the query.
        """
        began = time.monotonic()
        asked = self._config.default_maxrec if parameters.maxrec is None else parameters.maxrec
        limit = min(asked, hard_maxrec)
        translation = self._translate(parameters.query, limit)
        execution = Execution(
            self._engine,
            translation,
            parameters.format.serializer(translation.fields, ResultInfo(parameters.query, self._config.title, limit)),
            query_id=query_id,
            limit=limit,
            way_out=_way_out(limit, hard_maxrec),
        )
        execution.report.seconds["translate"] = time.monotonic() - began
        return execution

    def _translate(self, query: str, limit: int) -> Translation:
        try:
            translation = translate(query, self._metadata.catalogue, limit=limit + 1, positions=self._positions)
        except AdqlError as error:
            raise QueryFault(error.describe(query)) from error
        if self._config.query_memory:
            translation.settings.setdefault("max_memory_usage", self._config.query_memory)
        return translation


def _way_out(limit: int, hard: int) -> str:
    if limit < hard:
        return f"Ask for more with MAXREC, up to {hard}."
    return "No request gets more here: ask in parts, such as one region or range of values at a time."
