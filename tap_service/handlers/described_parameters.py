"""Parameters of the IVOA protocols, described for the OpenAPI document."""

from __future__ import annotations

from tap_service.constants import LANGUAGES
from tap_service.handlers.route_description import Parameter
from tap_service.models.uws_job import ExecutionPhase

RESPONSEFORMAT = Parameter("RESPONSEFORMAT", "Format of the result: a media type or a short name", example="csv")
#: parameters of a query, by TAP and DALI
QUERY_PARAMETERS = (
    Parameter("REQUEST", "doQuery, as in TAP 1.0", ("doQuery",)),
    Parameter("LANG", "Query language", LANGUAGES, example="ADQL"),
    Parameter("QUERY", "Query in ADQL", example="SELECT TOP 3 table_name FROM TAP_SCHEMA.tables"),
    RESPONSEFORMAT,
    Parameter("FORMAT", "RESPONSEFORMAT under its name in TAP 1.0"),
    Parameter("MAXREC", "Maximum number of rows of the result", kind="integer", example=10),
    Parameter("RUNID", "Name of the request, which the query log records; also the name of the job"),
    Parameter(
        "UPLOAD", "NAME,URI of a table that the query reads as TAP_UPLOAD.NAME; param:PART names a part of the form"
    ),
    Parameter("ON_TIMEOUT", "Whether a query that reaches the time limit of /sync becomes a job", ("job", "error")),
    Parameter("HISTORY", "Whether /tap/history lists the query", ("true", "false")),
)
DURATION = Parameter("EXECUTIONDURATION", "Time limit of the job in seconds; 0: the maximum", kind="integer")
DESTRUCTION = Parameter("DESTRUCTION", "Instant at which the job and its result are deleted, in ISO 8601")
NOTE = Parameter("NOTE", "Note on the job")
REPLACE = Parameter("REPLACE", "Whether to replace an existing table with this name", ("true", "false"))
#: parameters of a job: those that UWS defines, then REUSE and CHECKSUM of this service
JOB_PARAMETERS = (
    Parameter("PHASE", "RUN starts the job", ("RUN",)),
    DURATION,
    DESTRUCTION,
    NOTE,
    Parameter("REUSE", "Whether to reuse the result of your earlier identical query, if any", ("true", "false")),
    Parameter("CHECKSUM", "Whether to compute a checksum of the rows, which shares require", ("true", "false")),
)
JOB_FILTERS = (
    Parameter("PHASE", "Jobs in this phase", tuple(ExecutionPhase), is_repeatable=True),
    Parameter("AFTER", "Jobs created after this instant, in ISO 8601", example="2026-01-31"),
    Parameter("BEFORE", "Jobs created before this instant, in ISO 8601"),
    Parameter("LAST", "Maximum number of jobs, newest first", kind="integer", example=10),
    Parameter("SEARCH", "Jobs whose name, note, query, other parameters or id contain all these words"),
)
WAIT_PARAMETERS = (
    Parameter("WAIT", "Seconds to wait for a change of the phase; -1: the maximum", kind="integer"),
    Parameter("PHASE", "Do not wait unless the job is in this phase", tuple(ExecutionPhase)),
)
CONE_PARAMETERS = (
    Parameter("RA", "Right ascension of the centre (ICRS), in degrees", kind="number", example=10.5),
    Parameter("DEC", "Declination of the centre (ICRS), in degrees", kind="number", example=20.5),
    Parameter("SR", "Radius, in degrees", kind="number", example=0.1),
    Parameter("VERB", "Which columns to return: 1 the fewest, 3 all", ("1", "2", "3")),
    *(each for each in QUERY_PARAMETERS if each.name in ("MAXREC", "RESPONSEFORMAT", "RUNID")),
)
#: answers to requests with Range, and to conditional requests
FILE_ANSWERS = {
    206: "The requested range of bytes",
    304: "The client already has this version",
}
