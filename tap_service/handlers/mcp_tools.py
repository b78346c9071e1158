"""The tools of the MCP endpoint. A call is a request to the service, with the rights and limits of the client.

Answers are JSON, with the member names of the resources under /tap. Rows are CSV in a string, which preserves all
digits: many clients read JSON numbers in double precision.
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
    """A request of an agent.

    Attributes
    ----------
    skyhouse : Services
        The service.
    user : Identity or None
        The user; None for an anonymous client.
    client : Client
        The client, with its limits.
    base_url : str
        The URL of the service for this client, without a slash at its end.
    """

    skyhouse: Services
    user: Identity | None
    client: Client
    base_url: str


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool for agents.

    Attributes
    ----------
    name, description : str
        The name and the description, which agents read.
    arguments : type[BaseModel]
        The model of the arguments.
    call : Callable[[AgentRequest, Any], Awaitable[dict]]
        Takes the request and the validated arguments, and returns the answer as JSON. Raises ServiceError.
    is_reading : bool
        Whether the tool changes nothing.
    """

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
    words: str = Field(
        "", description="Words that the table's name, description or columns contain; empty for all tables"
    )
    limit: int = Field(50, ge=1, le=200, description="Maximum number of tables")


class TableName(_Arguments):
    name: str = Field(description="schema.table, as list_tables returns it")
    words: str = Field(
        "", description="Words that the column's name, UCD or description contains; empty for all columns"
    )


class EstimatedQuery(_Arguments):
    adql: Adql


class ShortQuery(_Arguments):
    adql: Adql
    maxrec: int = Field(100, ge=0, le=MAX_MCP_ROWS, description="Maximum number of rows; 0 for only the columns")


class NewJob(_Arguments):
    adql: Adql
    format: str = Field("votable", description="Output format, such as votable, csv, parquet, fits, arrow or json")
    maxrec: int | None = Field(None, ge=0, description="Maximum number of rows; the default of the service if omitted")
    name: str = Field("", description="Name by which the user can find the job again")


class JobWait(_Arguments):
    job_id: JobId
    wait_seconds: int = Field(0, ge=0, le=MAX_WAIT_SECONDS, description="Seconds to wait for the next phase of the job")


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
    """Leave out empty members at every depth, because agents pay for each word."""
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
        SyncRequest(parameters, asked.client, longer="Send longer queries to submit_job")
    )
    try:
        rows = await _read_rows(answer)
        assert answer.run is not None  # noqa: S101 (it has returned rows)
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
    """Return the rows as CSV. Raises the error of the query, and ParameterError for a document that is too long."""
    await answer.wait_for_first_bytes()
    document = bytearray()
    async for piece in answer.read_pieces():
        document += piece
        if len(document) > MAX_MCP_BYTES:
            raise ParameterError(
                f"the rows take more than {MAX_MCP_BYTES:,} bytes: select fewer columns, request fewer rows by maxrec, "
                "or send the query to submit_job, whose result is a file"
            )
    answer.raise_failure()
    return document.decode()


def _describe_cut(limit: int) -> str:
    if not limit:
        return "With maxrec=0 the answer has the columns but no rows, even if the query finds rows"
    return (
        f"There are more than these {limit:,} rows, which are not a random sample: rows are in the order of the sky "
        "unless the query has ORDER BY. Count with COUNT(*), narrow the query, or send it to submit_job for all rows"
    )


def _read_query(asked: AgentRequest, adql: str, pairs: list[Pair] | tuple[Pair, ...]) -> TapParameters:
    return read_tap_parameters([("QUERY", adql), *pairs], asked.skyhouse.config.max_query_length)


async def _submit_job(asked: AgentRequest, given: NewJob) -> Json:
    pairs = [("LANG", "ADQL"), ("QUERY", given.adql), ("RESPONSEFORMAT", given.format), ("PHASE", "RUN")]
    pairs += [] if given.maxrec is None else [("MAXREC", str(given.maxrec))]
    pairs += [("RUNID", given.name)] if given.name else []
    read_tap_parameters(pairs, asked.skyhouse.config.max_query_length)  # an invalid job would fail later
    job = await run_in_turn(asked.skyhouse.jobs.create_job, pairs, asked.client)
    return _describe_job(asked, job)


async def _get_job(asked: AgentRequest, given: JobWait) -> Json:
    if given.wait_seconds:
        job = await asked.skyhouse.jobs.wait_for_change(given.job_id, asked.user, given.wait_seconds, "")
    else:
        job = await run_in_turn(asked.skyhouse.jobs.get_job, given.job_id, asked.user)
    return _describe_job(asked, job)


async def _cancel_job(asked: AgentRequest, given: JobName) -> Json:
    job = await run_in_turn(asked.skyhouse.jobs.set_phase, given.job_id, "ABORT", asked.user)
    return _describe_job(asked, job)


def _describe_job(asked: AgentRequest, job: Job) -> Json:
    return _drop_empty(describe_job(job, f"{asked.base_url}/tap/async/{job.job_id}").to_json())


TOOLS = (
    Tool(
        "list_tables",
        "List the tables that the user may query, with their descriptions and numbers of rows.",
        TableSearch,
        _list_tables,
    ),
    Tool(
        "describe_table",
        "Describe a table: its columns with types, units, UCDs and indexes, its position and identifier columns, its "
        "foreign keys, and how to cite it.",
        TableName,
        _describe_table,
    ),
    Tool(
        "estimate_query",
        "Check an ADQL query without running it, and estimate the bytes it reads, its duration and the number of rows "
        "of its result. Errors state line and column.",
        EstimatedQuery,
        _estimate_query,
    ),
    Tool(
        "run_query",
        f"Run a short ADQL query and return its first rows, at most {MAX_MCP_ROWS:,}, as CSV. The note says whether "
        "there are more. Use submit_job for long queries and large results.",
        ShortQuery,
        _run_query,
    ),
    Tool(
        "submit_job",
        "Run an ADQL query as a job, which continues in the background and stores its result as a file for some days. "
        "The user can open the URL of the job too.",
        NewJob,
        _submit_job,
        is_reading=False,
    ),
    Tool(
        "get_job",
        "Return the phase and progress of a job, and its error or the URL of its result.",
        JobWait,
        _get_job,
    ),
    Tool(
        "cancel_job",
        "Stop a waiting or running job.",
        JobName,
        _cancel_job,
        is_reading=False,
    ),
)
