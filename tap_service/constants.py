"""Constants of the service that are not settings, each with its meaning."""

from __future__ import annotations

from importlib.metadata import version

#: the version of the project, from pyproject.toml at the time of installation
VERSION = version("skyhouse")

#: the HTTP Server header: taplint and the IVOA registry look for a product in it
PRODUCT = f"skyhouse/{VERSION}"

#: LANG values of TAP 1.1, section 2.7.1: the language without version, and with each version that the parser reads
LANGUAGES = ("ADQL", "ADQL-2.0", "ADQL-2.1")

#: files in the data directory, unless settings name others: users, blocked addresses, dates of the registry, usage
ACCOUNTS_FILE = "accounts.sqlite"
BLOCKED_FILE = "blocked.txt"
REGISTRY_FILE = "registry.sqlite"
USAGE_FILE = "usage.sqlite"

#: interval at which the catalogue is checked for changes by other processes, in seconds
CATALOGUE_POLL_SECONDS = 1.0

#: interval at which the service checks whether the HATS catalogues of attached tables have changed, in seconds
ATTACHMENT_CHECK_SECONDS = 300.0

#: the maximum number of bytes of a character in a form: UTF-8, percent-encoded
BYTES_PER_CHARACTER = 12

#: the space for other parameters and the multipart syntax, in bytes
FORM_OVERHEAD = 65_536

#: an oversized body is read to its end up to this size, so that the client reads the error instead of a reset
MAX_DISCARDED_BYTES = 1 << 30

#: maximum number of parameters or parts of a request
MAX_PARAMETERS = 1000

#: the standard id of {links} (DataLink 1.1), and its path in this service
LINKS_STANDARD = "ivo://ivoa.net/std/DataLink#links-1.1"
LINKS_PATH = "/tap/datalink/links"

#: maximum number of identifiers in a request to {links}, of characters of an identifier, and of rows of an answer
MAX_LINK_IDS = 500
MAX_LINK_ID_CHARACTERS = 800
MAX_LINK_ROWS = 10_000

#: maximum size of request line and headers, in bytes; the error for a longer GET recommends POST
MAX_REQUEST_HEAD = 262_144

#: maximum number of headers of a request: each takes time before the request is handled
MAX_REQUEST_HEADERS = 200

#: maximum size of the sizes, extensions and trailers of a body's chunks, in bytes, plus one for each byte of the body
MAX_BODY_FRAMING = 65_536

#: maximum number of pipelined requests of a connection that wait for the answer to an earlier request
MAX_PIPELINED = 100

#: size of one read of the spool's file, in bytes
PIECE_BYTES = 262_144

#: seconds after which a cancelled query is cancelled again, because the engine may not have started it yet
CANCEL_RETRY_SECONDS = 0.2

#: Retry-After when the service is full, in seconds
RETRY_AFTER_SECONDS = 5

#: Retry-After when too many jobs of the user wait, in seconds
JOBS_RETRY_AFTER_SECONDS = 60

#: the time limit of a body: its minimum in seconds, and the number of bytes that permit one more second
BODY_SECONDS = 60.0
BODY_BYTES_PER_SECOND = 1000

#: seconds for which a refused connection is still read
LINGER_SECONDS = 2.0

#: headers of a result, for formats without metadata: the row limit, the estimated number of rows without the limit,
#: and the query's status if it is known before the first byte
ROW_LIMIT_HEADER = "Skyhouse-Row-Limit"
RESULT_ROWS_HEADER = "Skyhouse-Result-Rows"
STATUS_HEADER = "Skyhouse-Query-Status"

#: header of an error: the URL of the job that the query has become
JOB_HEADER = "Skyhouse-Job"

#: header of a user table: when it expires unless it is used
TABLE_EXPIRES_HEADER = "Skyhouse-Table-Expires"

#: header of AuthVO, a working draft of the IVOA on authentication: the authenticated user
USER_HEADER = "X-VO-Authenticated"

#: seconds for which a request waits for the end of its query before it checks for a disconnect: most queries are short
PATIENCE_SECONDS = 0.05

#: seconds for which the first bytes of a VOTable wait until there are FIRST_BYTES, and the first bytes of other formats
#: until a short query has its status
SETTLING_SECONDS = 0.25
FIRST_BYTES = 65_536

#: a result with more bytes is sent in chunks even if it is complete
MAX_WHOLE_BYTES = 1 << 20

#: a query of /sync that works longer, or writes more, than a light query is counted in another lane; WATCH_SECONDS is
#: the interval at which this and the time limit are checked
LIGHT_SECONDS = 1.0
MAX_LIGHT_BYTES = 64 << 20
WATCH_SECONDS = 0.5

#: interval at which a running job's progress, time limit and abortion are checked, in seconds
JOB_TICK_SECONDS = 0.5

#: interval at which the end of a job is written again to an unavailable job store, in seconds
STORE_RETRY_SECONDS = 1.0

#: a query of /sync is heavy if its estimate without writing is longer than QUICK_SECONDS, otherwise bulk if its
#: estimate for writing is longer than BULK_SECONDS
QUICK_SECONDS = 1.0
BULK_SECONDS = 0.1

#: a job with a longer query is estimated when it executes, not when it is queued, because the client would wait for the
#: translation, which may take seconds
MAX_ESTIMATED_CHARACTERS = 20_000

#: maximum number of rows of a preview
PREVIEW_ROWS = 50

#: seconds for which a shutdown waits for running jobs; the next start resumes the jobs that did not end
CLOSING_SECONDS = 10.0

#: interval at which watches look for additions to their tables, in seconds
WATCH_ROUND_SECONDS = 2.0

#: interval at which expired jobs are destroyed, in seconds
SWEEP_SECONDS = 1.0

#: age at which a result without a job is deleted, in seconds
ORPHAN_AGE_SECONDS = 60.0

#: age at which a table of an unknown query, or of /sync, counts as an orphan of a dead process, in seconds
ORPHAN_TABLE_SECONDS = 6 * 3600

#: age at which the result of an exported query counts as an orphan, in seconds: exports may take days
ORPHAN_EXPORT_SECONDS = 7 * 24 * 3600

#: maximum number of redirects, and of addresses of one host to try, when an upload is fetched
MAX_REDIRECTS, MAX_ADDRESSES = 5, 4

#: maximum number of uploads of a request
MAX_UPLOADS = 20

#: time after the last write at which an unfinished user table counts as an orphan of a dead process, in seconds
FILLING_SECONDS = 3600

#: maximum size of the definition of a user table as sent, and as stored in the user's catalogue, in bytes
MAX_DEFINITION_BYTES = 8 << 20
MAX_MODEL_BYTES = 2 << 20

#: maximum number of pieces of a job, because its record, which is written often, lists them
MAX_PIECES = 500

#: maximum number of pieces including pieces that were divided again because they did not fit into memory
MAX_CUT_PIECES = 1000

#: maximum number of restarts of a divided job because its tables were replaced
MAX_RESTARTS = 5

#: number of worker deaths after which a job is not restarted
MAX_DEATHS = 3

#: the longest WAIT for a job's next phase, in seconds; proxies close longer requests
MAX_WAIT_SECONDS = 60

#: maximum number of rows, and of their bytes, in an answer of the MCP endpoint
MAX_MCP_ROWS, MAX_MCP_BYTES = 1000, 200_000

#: maximum number of records in an answer of the registry
REGISTRY_PAGE_RECORDS = 20

#: interval at which the registry looks for new rows, in seconds: a look may read the time column of each table
REGISTRY_REFRESH_SECONDS = 600.0

#: time limit of the engine for one file of /hats, in seconds
HATS_FILE_SECONDS = 600

#: row limit of a HATS collection, which means no limit
UNLIMITED_MAXREC = 10**15

#: surrounds the message for users in an error of the gateway of attached files, which the engine quotes
FILES_MARK = "#attached#"
