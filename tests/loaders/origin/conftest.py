"""A server that acts as an origin, and a client that does not wait."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from clickhouse_schema.schema_files.yaml_reader import read_schema
from clickhouse_schema.schema_model import Schema
from loaders.origin.origin_client import OriginClient
from loaders.origin.origin_table import read_origin_table
from loaders.pipeline.describe_origin import describe_origin
from tap_service.hats.reading.folder_backend import Patience
from tests.loaders.origin.origin_server import Origin, origin_server


@pytest.fixture
def origin() -> Iterator[Origin]:
    with origin_server() as server:
        yield server


@pytest.fixture
def client() -> OriginClient:
    return OriginClient(Patience(connect_seconds=5, silence_seconds=5, attempts=3, pause_seconds=0.01))


@pytest.fixture
def describe(origin: Origin, client: OriginClient) -> Callable[..., str]:
    """Return the schema file of a table of the origin."""

    def print_table(table: str, *names: str) -> str:
        return describe_origin(read_origin_table(client, origin.tap, table), *names).text

    return print_table


@pytest.fixture
def schema(describe: Callable[..., str]) -> Callable[..., Schema]:
    """Return the schema in the schema file of a table of the origin."""

    def read(table: str, *names: str) -> Schema:
        return read_schema(describe(table, *names), "described")[0]

    return read
