"""Numbers and names that are no operator's business, each with its reason."""

from __future__ import annotations

#: of the project; a test compares it with pyproject.toml
VERSION = "0.1.0"

#: the HTTP Server header: taplint and the IVOA registry look for a product in it
PRODUCT = f"skyhouse/{VERSION}"

#: LANG values of TAP 1.1, section 2.7.1: the language with each version that the parser reads, and without
LANGUAGES = ("ADQL", "ADQL-2.0", "ADQL-2.1")

#: a catalogue loaded or dropped by another thread shows within this time, in seconds
METADATA_POLL_SECONDS = 1.0

#: a form may hold this many bytes for each character of the query: a percent-encoded character of UTF-8 takes 12
BYTES_PER_CHARACTER = 12

#: what other parameters and the wrapping of a multipart form may take besides the query, in bytes
FORM_OVERHEAD = 65_536

#: a body that is too long is read to its end up to this size, so that the client reads the error instead of a reset
MAX_DISCARDED_BYTES = 1 << 30

#: more parameters or parts than any client sends
MAX_PARAMETERS = 1000

#: the request line and headers together; a longer GET is told to use POST
MAX_REQUEST_HEAD = 262_144

#: a piece of a result read back from the spool's file
PIECE_BYTES = 262_144

#: a query that was told to stop is told again after this time, in seconds: the engine may not have known it yet
CANCEL_RETRY_SECONDS = 0.2

#: when a client of a full service should come back, in seconds
RETRY_AFTER_SECONDS = 5

#: and when a user whose jobs wait should come with another one
JOBS_RETRY_AFTER_SECONDS = 60

#: a body may take so many seconds, and a second more for so many bytes of it: less is no client that wants an answer
BODY_SECONDS = 60.0
BODY_BYTES_PER_SECOND = 1000

#: how long a refused connection is read on, in seconds
LINGER_SECONDS = 2.0

#: Headers of a result, for formats that have no place of their own for it: the limit in force, the rows that are
#: foreseen without it, and how the query ended where that was known before the first byte left.
ROW_LIMIT_HEADER = "Skyhouse-Row-Limit"
RESULT_ROWS_HEADER = "Skyhouse-Result-Rows"
STATUS_HEADER = "Skyhouse-Query-Status"

#: Header of a user's own table: when it goes if nobody uses it any more.
TABLE_EXPIRES_HEADER = "Skyhouse-Table-Expires"

#: Header of AuthVO, the IVOA's working draft on authentication: as whom the service knows the client.
VISITOR_HEADER = "X-VO-Authenticated"

#: How long the first bytes of such a format wait for the end of a short query.
SETTLING_SECONDS = 0.25

#: how often a running job is looked at: its progress, its time limit, and whether it was aborted; in seconds
JOB_TICK_SECONDS = 0.5

#: a job store that is out of order is told again of a job's end after this time, in seconds
STORE_RETRY_SECONDS = 1.0

#: a synchronous query that is foreseen to take longer waits with others of its kind, in seconds
QUICK_SECONDS = 1.0

#: How nice heavy queries are to light ones, on Linux' scale (an engine without CAP_SYS_NICE takes no notice): those of
#: /sync that are not quick and short jobs, and all other jobs.
HEAVY_NICENESS, JOB_NICENESS = 5, 10

#: what a job with a longer query will cost is foreseen when it starts: its translation may take seconds, and whoever
#: starts the job waits for it
MAX_ESTIMATED_CHARACTERS = 20_000

#: rows of a preview
PREVIEW_ROWS = 50

#: running jobs that do not end within this time are left to the next start, in seconds
CLOSING_SECONDS = 10.0

#: jobs are destroyed within this time after their destruction time, in seconds
SWEEP_SECONDS = 1.0

#: a result without a job is removed when it is older than this, in seconds
ORPHAN_AGE_SECONDS = 60.0

#: a table of a query that nobody knows here, or of /sync, has been left by a dead process when it is older, in seconds
ORPHAN_TABLE_SECONDS = 6 * 3600

#: redirects that are followed, and addresses of one host that are tried, to fetch an uploaded table
MAX_REDIRECTS, MAX_ADDRESSES = 5, 4

#: tables that one request may upload
MAX_UPLOADS = 20

#: a table that was being filled, and has not been written to for longer, has been left by a dead process, in seconds
FILLING_SECONDS = 3600

#: the definition of a user's table, in bytes; and its model, which is read whenever the user's tables are
MAX_DEFINITION_BYTES = 8 << 20
MAX_MODEL_BYTES = 2 << 20

#: pieces of one job: its record, which is written often, tells of each
MAX_PIECES = 500

#: a job whose tables are replaced so often while it runs in pieces is not begun anew
MAX_RESTARTS = 5

#: a job that has taken so many processes or servers with it is not begun anew
MAX_DEATHS = 3

#: a client waits for a job's next phase this long at most, in seconds: proxies give up on longer ones
MAX_WAIT_SECONDS = 60
