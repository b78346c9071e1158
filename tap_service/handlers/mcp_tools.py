"""The tools of the MCP endpoint: each is one request to a service, with the rights and limits of the caller.

Answers are JSON, with the names of /tap. Rows are CSV in a text, which keeps all digits: many clients read numbers as
double precision.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from clickhouse_schema.catalogue import TableEntry
from clickhouse_schema.schema_model import Column
from clickhouse_schema.tap_schema import table_name_to_adql
from tap_service.constants import MAX_MCP_BYTES, MAX_MCP_ROWS, MAX_WAIT_SECONDS
from tap_service.documents.tableset_json import describe_table
from tap_service.documents.uws_json import describe_job
from tap_service.factory.services import Services
from tap_service.handlers.estimate_routes import estimate_as_json
from tap_service.handlers.turns import run_in_turn
from tap_service.handlers.vosi_routes import find_table
from tap_service.models.client import Client
from tap_service.models.identity import Identity
from tap_service.models.request_parameters import Pair
from tap_service.models.uws_job import Job
from tap_service.serializers.json_serializer import describe_columns
from tap_service.service_errors import ParameterError
from tap_service.services.queries.sync_answer import SyncAnswer, SyncRequest
from tap_service.services.queries.tap_parameters import TapParameters, read_tap_parameters

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class AgentRequest:
    """A request of an agent; ``caller`` is None for an anonymous client."""

    skyhouse: Services
    caller: Identity | None
    client: Client
    base_url: str


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool; ``call`` raises ServiceError. ``is_reading``: it changes nothing."""

    name: str
    description: str
    arguments: type[BaseModel]
    call: Callable[[AgentRequest, Any], Awaitable[Json]]
    is_reading: bool = True


class _Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid")


Adql = Annotated[str, Field(description="A query in ADQL 2.1")]
JobId = Annotated[str, Field(description="The jobId that submit_job returned")]


class TableSearch(_Arguments):
    words: str = Field("", description="Words that a table's name, description or columns have; empty for all tables")
    limit: int = Field(50, ge=1, le=200, description="Tables at most")


class TableName(_Arguments):
    name: str = Field(description="schema.table, as list_tables writes it")
    words: str = Field("", description="Words that a column's name, UCD or description has; empty for all columns")


class EstimatedQuery(_Arguments):
    adql: Adql


class ShortQuery(_Arguments):
    adql: Adql
    maxrec: int = Field(100, ge=0, le=MAX_MCP_ROWS, description="Rows at most; 0 for the columns alone")


class NewJob(_Arguments):
    adql: Adql
    format: str = Field("votable", description="Output format: votable, csv, parquet, fits, arrow, json and others")
    maxrec: int | None = Field(None, ge=0, description="Rows at most; the service's default unless given")
    name: str = Field("", description="A name by which the user finds the job again")


class JobWait(_Arguments):
    job_id: JobId
    wait_seconds: int = Field(0, ge=0, le=MAX_WAIT_SECONDS, description="How long to wait for the job's next phase")


class JobName(_Arguments):
    job_id: JobId


async def _list_tables(asked: AgentRequest, given: TableSearch) -> Json:
    found = await run_in_turn(_find_tables, asked, given.words)
    tables = [
        {
            "name": table_name_to_adql(entry),
            "description": entry.table.description,
            "rows": entry.rows,
            "columns": len(entry.table.columns),
        }
        for entry in found[: given.limit]
    ]
    return {"tables": tables, "notListed": len(found) - len(tables)}


def _find_tables(asked: AgentRequest, words: str) -> Sequence[TableEntry]:
    entries = asked.skyhouse.catalogue_cache.catalogue_for(asked.client.name).entries
    return [entry for entry in entries if _has_words(_table_text(entry), words)] if words.strip() else entries


async def _describe_table(asked: AgentRequest, given: TableName) -> Json:
    entry = await run_in_turn(find_table, asked.skyhouse, asked.client, given.name)
    described = describe_table(entry).to_json()
    columns = zip(described.pop("columns"), entry.table.columns, strict=True)
    shown = [document for document, column in columns if _has_words(_column_text(column), given.words)]
    return _drop_empty(
        {
            **described,
            "rows": entry.rows,
            "position": entry.table.layout.position,
            "identifier": entry.table.layout.id,
            "columns": shown,
            "columnsNotListed": len(entry.table.columns) - len(shown),
            "schemaDescription": entry.schema.description,
            "citation": entry.schema.citation,
            "licence": entry.schema.licence,
        }
    )


def _drop_empty(members: Json) -> Json:
    """Leave out members that say nothing, at every depth: agents pay for each word."""
    return {name: _drop_within(part) for name, part in members.items() if not _is_empty(part)}


def _drop_within(value: Any) -> Any:
    if isinstance(value, dict):
        return _drop_empty(value)
    return [_drop_within(part) for part in value] if isinstance(value, list | tuple) else value


def _is_empty(value: Any) -> bool:
    return value is None or value is False or value in ("", [], (), {})


def _table_text(entry: TableEntry) -> str:
    columns = " ".join(map(_column_text, entry.table.columns))
    return f"{entry.qualified_name} {entry.schema.description} {entry.table.description} {columns}"


def _column_text(column: Column) -> str:
    return f"{column.name} {column.ucd} {column.description}"


def _has_words(text: str, words: str) -> bool:
    lower = text.lower()
    return all(word in lower for word in words.lower().split())


async def _estimate_query(asked: AgentRequest, given: EstimatedQuery) -> Json:
    skyhouse, parameters = asked.skyhouse, _read_query(asked, given.adql, ())
    found = await skyhouse.queries.estimate_query(parameters, asked.client)
    return estimate_as_json(found, skyhouse.config)


async def _run_query(asked: AgentRequest, given: ShortQuery) -> Json:
    parameters = _read_query(asked, given.adql, [("MAXREC", str(given.maxrec)), ("RESPONSEFORMAT", "csv")])
    answer = asked.skyhouse.queries.start_query(
        SyncRequest(parameters, asked.client, longer="Longer queries belong to submit_job")
    )
    try:
        rows = await _read_rows(answer)
        assert answer.run is not None  # noqa: S101 (it has given rows)
        query = answer.run.query
        limit, is_cut = query.row_limit, answer.report.status == "OVERFLOW"
        cut = _describe_cut(limit.limit) if is_cut else limit.warning
        return {
            "columns": describe_columns(query.translation.fields),
            "rowsCsv": rows,
            "rowCount": answer.report.rows,
            "isComplete": not is_cut,
            "note": " ".join([*query.translation.warnings, cut]).strip(),
        }
    finally:
        answer.close()


async def _read_rows(answer: SyncAnswer) -> str:
    """Return the document of a query. Raises its error, and ParameterError for a long one."""
    await answer.wait_for_first_bytes()
    document = bytearray()
    async for piece in answer.read_pieces():
        document += piece
        if len(document) > MAX_MCP_BYTES:
            raise ParameterError(
                f"the rows take more than {MAX_MCP_BYTES:,} bytes: name fewer columns, ask for fewer rows with maxrec, "
                "or send the query to submit_job, whose result is a file"
            )
    answer.raise_failure()
    return document.decode()


def _describe_cut(limit: int) -> str:
    if not limit:
        return "With maxrec=0 the columns alone are told, and no rows: whether there are any is not known"
    return (
        f"There are more than these {limit:,} rows, which are no random sample: rows come in the order of the sky "
        "unless the query has ORDER BY. Count with COUNT(*), narrow the query, or send it to submit_job for all rows"
    )


def _read_query(asked: AgentRequest, adql: str, pairs: list[Pair] | tuple[Pair, ...]) -> TapParameters:
    return read_tap_parameters([("QUERY", adql), *pairs], asked.skyhouse.config.max_query_length)


async def _submit_job(asked: AgentRequest, given: NewJob) -> Json:
    pairs = [("LANG", "ADQL"), ("QUERY", given.adql), ("RESPONSEFORMAT", given.format), ("PHASE", "RUN")]
    pairs += [] if given.maxrec is None else [("MAXREC", str(given.maxrec))]
    pairs += [("RUNID", given.name)] if given.name else []
    read_tap_parameters(pairs, asked.skyhouse.config.max_query_length)  # a faulty job would fail later
    job = await run_in_turn(asked.skyhouse.jobs.create_job, pairs, asked.client)
    return _describe_job(asked, job)


async def _get_job(asked: AgentRequest, given: JobWait) -> Json:
    if given.wait_seconds:
        job = await asked.skyhouse.jobs.wait_for_change(given.job_id, asked.caller, given.wait_seconds, "")
    else:
        job = await run_in_turn(asked.skyhouse.jobs.get_job, given.job_id, asked.caller)
    return _describe_job(asked, job)


async def _cancel_job(asked: AgentRequest, given: JobName) -> Json:
    job = await run_in_turn(asked.skyhouse.jobs.set_phase, given.job_id, "ABORT", asked.caller)
    return _describe_job(asked, job)


def _describe_job(asked: AgentRequest, job: Job) -> Json:
    return _drop_empty(describe_job(job, f"{asked.base_url}/tap/async/{job.job_id}").to_json())


TOOLS = (
    Tool(
        "list_tables",
        "List the tables that the user may query, with descriptions and numbers of rows.",
        TableSearch,
        _list_tables,
    ),
    Tool(
        "describe_table",
        "Describe a table: its columns with types, units, UCDs and indexes, its position and identifier, its foreign "
        "keys, and how to cite it.",
        TableName,
        _describe_table,
    ),
    Tool(
        "estimate_query",
        "Check an ADQL query and estimate what it reads, how long it takes and how many rows it gives, without running "
        "it. Errors have line and column.",
        EstimatedQuery,
        _estimate_query,
    ),
    Tool(
        "run_query",
        f"Run a short ADQL query and return its first rows, at most {MAX_MCP_ROWS:,}, as CSV. The note says if there "
        "are more. Long queries and large results belong to submit_job.",
        ShortQuery,
        _run_query,
    ),
    Tool(
        "submit_job",
        "Run an ADQL query as a job, which goes on by itself and keeps its result as a file for some days. The address "
        "of the job is for the user too.",
        NewJob,
        _submit_job,
        is_reading=False,
    ),
    Tool(
        "get_job",
        "Return the phase and the progress of a job, its error, or the address of its result.",
        JobWait,
        _get_job,
    ),
    Tool(
        "cancel_job",
        "Stop a job that waits or runs.",
        JobName,
        _cancel_job,
        is_reading=False,
    ),
)
