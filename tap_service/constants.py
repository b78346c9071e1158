"""Constants of the service that are not settings, each with its meaning."""

from __future__ import annotations

from importlib.metadata import version

#: version of the project: that of pyproject.toml when it was installed
VERSION = version("skyhouse")

#: the HTTP Server header: taplint and the IVOA registry look for a product in it
PRODUCT = f"skyhouse/{VERSION}"

#: LANG values of TAP 1.1, section 2.7.1: the language without version, and with each version that the parser reads
LANGUAGES = ("ADQL", "ADQL-2.0", "ADQL-2.1")

#: files in the data directory, where the settings name no others: users, blocked addresses, the registry's dates, usage
ACCOUNTS_FILE = "accounts.sqlite"
BLOCKED_FILE = "blocked.txt"
REGISTRY_FILE = "registry.sqlite"
USAGE_FILE = "usage.sqlite"

#: how often the catalogue is checked for changes by others, in seconds
METADATA_POLL_SECONDS = 1.0

#: how often the service looks whether the catalogues of attached tables have changed, in seconds
ATTACHMENT_LOOK_SECONDS = 300.0

#: the largest size of a character of the query in a form: a percent-encoded character of UTF-8
BYTES_PER_CHARACTER = 12

#: the space for other parameters and the multipart syntax, in bytes
FORM_OVERHEAD = 65_536

#: an oversized body is read to its end up to this size, so that the client reads the error instead of a reset
MAX_DISCARDED_BYTES = 1 << 30

#: parameters or parts of one request
MAX_PARAMETERS = 1000

#: the service's {links} (DataLink 1.1), and its path
LINKS_STANDARD = "ivo://ivoa.net/std/DataLink#links-1.1"
LINKS_PATH = "/tap/datalink/links"

#: identifiers that {links} answers at once, the characters of one, and the rows of an answer
MAX_LINK_IDS = 500
MAX_LINK_ID_CHARACTERS = 800
MAX_LINK_ROWS = 10_000

#: bytes of request line and headers; the error for a longer GET recommends POST
MAX_REQUEST_HEAD = 262_144

#: headers of one request: each costs time before the request is looked at
MAX_REQUEST_HEADERS = 200

#: bytes of the sizes, extensions and trailers of a body's chunks, besides one for every byte of the body
MAX_BODY_FRAMING = 65_536

#: requests of one connection that wait behind the one that is being answered
MAX_PIPELINED = 100

#: how much is read from the spool's file at once, in bytes
PIECE_BYTES = 262_144

#: a cancelled query is cancelled again after this time, in seconds: the engine may not have known it yet
CANCEL_RETRY_SECONDS = 0.2

#: Retry-After when the service is full, in seconds
RETRY_AFTER_SECONDS = 5

#: Retry-After when too many jobs of the user wait, in seconds
JOBS_RETRY_AFTER_SECONDS = 60

#: the time limit of a body: this many seconds, and one more per this many bytes
BODY_SECONDS = 60.0
BODY_BYTES_PER_SECOND = 1000

#: how long a refused connection is still read, in seconds
LINGER_SECONDS = 2.0

#: headers of a result, for formats without metadata: the row limit, the estimated rows without it, and the query's
#: status if it is known before the first byte
ROW_LIMIT_HEADER = "Skyhouse-Row-Limit"
RESULT_ROWS_HEADER = "Skyhouse-Result-Rows"
STATUS_HEADER = "Skyhouse-Query-Status"

#: header of an error: the URL of the job that the query has become
JOB_HEADER = "Skyhouse-Job"

#: header of a user table: when it expires unless it is used
TABLE_EXPIRES_HEADER = "Skyhouse-Table-Expires"

#: header of AuthVO, the IVOA's working draft on authentication: the authenticated identity
USER_HEADER = "X-VO-Authenticated"

#: how long a request waits for the end of its query before it watches whether the client disconnects: most are short
PATIENCE_SECONDS = 0.05

#: how long the first bytes of a result wait for more of them, and those of a format without metadata for the status of
#: a short query
SETTLING_SECONDS = 0.25
FIRST_BYTES = 65_536

#: a result with more bytes is sent in chunks even if it is complete
MAX_WHOLE_BYTES = 1 << 20

#: a query of /sync that works longer, or writes more, than a light one is counted in another lane; how often that and
#: the time limit are checked, in seconds
LIGHT_SECONDS = 1.0
MAX_LIGHT_BYTES = 64 << 20
WATCH_SECONDS = 0.5

#: how often a running job's progress, time limit and abortion are checked, in seconds
JOB_TICK_SECONDS = 0.5

#: how often the end of a job is written again to a job store that does not work, in seconds
STORE_RETRY_SECONDS = 1.0

#: a query of /sync with a longer estimate without writing, or of writing, in seconds, is heavy, or bulk
QUICK_SECONDS = 1.0
BULK_SECONDS = 0.1

#: a job with a longer query is estimated when it executes, not when it is queued: the translation may take seconds, for
#: which the client would wait
MAX_ESTIMATED_CHARACTERS = 20_000

#: rows of a preview
PREVIEW_ROWS = 50

#: how long a shutdown waits for running jobs, in seconds; the next start resumes the others
CLOSING_SECONDS = 10.0

#: how often watches look for additions to their tables, in seconds
WATCH_ROUND_SECONDS = 2.0

#: how often expired jobs are destroyed, in seconds
SWEEP_SECONDS = 1.0

#: age at which a result without a job is deleted, in seconds
ORPHAN_AGE_SECONDS = 60.0

#: age at which a table of an unknown query, or of /sync, counts as an orphan of a dead process, in seconds
ORPHAN_TABLE_SECONDS = 6 * 3600

#: age at which the result of an exported query counts as left by a dead process, in seconds: exports may take days
ORPHAN_EXPORT_SECONDS = 7 * 24 * 3600

#: redirects and addresses of one host that are tried to fetch an upload
MAX_REDIRECTS, MAX_ADDRESSES = 5, 4

#: uploads of one request
MAX_UPLOADS = 20

#: time after the last write at which an unfinished user table counts as an orphan of a dead process, in seconds
FILLING_SECONDS = 3600

#: size of the definition of a user table as sent, and as stored and read with the user's catalogue, in bytes
MAX_DEFINITION_BYTES = 8 << 20
MAX_MODEL_BYTES = 2 << 20

#: pieces of one job; its record, which is written often, lists all of them
MAX_PIECES = 500

#: the same with those that were cut because they did not fit into memory
MAX_CUT_PIECES = 1000

#: restarts of a divided job because its tables were replaced
MAX_RESTARTS = 5

#: worker deaths after which a job is not restarted
MAX_DEATHS = 3

#: the longest WAIT for a job's next phase, in seconds; proxies close longer requests
MAX_WAIT_SECONDS = 60

#: rows that the MCP endpoint gives an agent at once, and bytes of them
MAX_MCP_ROWS, MAX_MCP_BYTES = 1000, 200_000

#: records of one answer of the registry
REGISTRY_PAGE_RECORDS = 20

#: how often the registry looks for new rows of the tables, in seconds: it may read each table's times
REGISTRY_REFRESH_SECONDS = 600.0

#: how long the engine may work on one file of /hats, in seconds
HATS_FILE_SECONDS = 600

#: row limit of a HATS collection: none, but for what a number can say
UNLIMITED_MAXREC = 10**15

#: around the message for users in an answer of the gateway of attached files, which the engine quotes in its own error
FILES_MARK = "#attached#"
