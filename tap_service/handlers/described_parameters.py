"""The parameters of the protocols, as the OpenAPI document describes them."""

from __future__ import annotations

from tap_service.constants import LANGUAGES
from tap_service.handlers.route_description import Parameter
from tap_service.models.uws_job import ExecutionPhase

RESPONSEFORMAT = Parameter("RESPONSEFORMAT", "The format of the result: a media type, or a short name", example="csv")
#: of a query, by TAP and DALI
QUERY_PARAMETERS = (
    Parameter("REQUEST", "doQuery, as in TAP 1.0", ("doQuery",)),
    Parameter("LANG", "The query language", LANGUAGES, example="ADQL"),
    Parameter("QUERY", "The query, in ADQL", example="SELECT TOP 3 table_name FROM TAP_SCHEMA.tables"),
    RESPONSEFORMAT,
    Parameter("FORMAT", "The name of RESPONSEFORMAT in TAP 1.0"),
    Parameter("MAXREC", "The most rows of the result", kind="integer", example=10),
    Parameter("RUNID", "A name for the request, which the log keeps; it is the name of a job too"),
    Parameter("UPLOAD", "NAME,URI of tables that the query calls TAP_UPLOAD.NAME; param:PART is a part of the form"),
    Parameter("ON_TIMEOUT", "What a request becomes at the time limit of /sync", ("job", "error")),
    Parameter("HISTORY", "false: leave the query out of /tap/history", ("true", "false")),
)
DURATION = Parameter("EXECUTIONDURATION", "Seconds that the job may run; 0: the longest possible", kind="integer")
DESTRUCTION = Parameter("DESTRUCTION", "When the job and its result are deleted, in ISO 8601")
NOTE = Parameter("NOTE", "A remark on the job")
REPLACE = Parameter("REPLACE", "Whether it takes the place of a table of this name", ("true", "false"))
#: of a job, by UWS, and our own
JOB_PARAMETERS = (
    Parameter("PHASE", "RUN starts the job", ("RUN",)),
    DURATION,
    DESTRUCTION,
    NOTE,
    Parameter("REUSE", "Take the result of an identical query of yours, if there is one", ("true", "false")),
    Parameter("CHECKSUM", "Note a checksum of the rows, which shares need", ("true", "false")),
)
JOB_FILTERS = (
    Parameter("PHASE", "Jobs in this phase", tuple(ExecutionPhase), is_repeatable=True),
    Parameter("AFTER", "Jobs created after this instant, in ISO 8601", example="2026-01-31"),
    Parameter("BEFORE", "Jobs created before this instant, in ISO 8601"),
    Parameter("LAST", "So many jobs, the newest first", kind="integer", example=10),
    Parameter("SEARCH", "Jobs with all these words in name, note, query, other parameters or id"),
)
WAIT_PARAMETERS = (
    Parameter(
        "WAIT", "Answer when the phase changes, or after so many seconds; -1: as long as possible", kind="integer"
    ),
    Parameter("PHASE", "Wait only while the job is in this phase", tuple(ExecutionPhase)),
)
CONE_PARAMETERS = (
    Parameter("RA", "Right ascension of the centre, ICRS degrees", kind="number", example=10.5),
    Parameter("DEC", "Declination of the centre, ICRS degrees", kind="number", example=20.5),
    Parameter("SR", "Radius, degrees", kind="number", example=0.1),
    Parameter("VERB", "1: the fewest columns, 3: all", ("1", "2", "3")),
    *(each for each in QUERY_PARAMETERS if each.name in ("MAXREC", "RESPONSEFORMAT", "RUNID")),
)
#: of Range and of conditional requests
FILE_ANSWERS = {
    206: "The range of bytes that the request asks for",
    304: "The client has this version",
}
