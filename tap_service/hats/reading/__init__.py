"""HATS catalogues read where they lie: in a local folder, behind an HTTP server or in an S3-compatible store.

A folder is named once; nothing outside it is read. A file that changes, ends early or does not come is an error, never
a short answer.
"""
