"""Reads HATS catalogues where they are: in a local folder, behind an HTTP server or in an S3-compatible store.

A folder is named once; nothing outside it is read. A file that changes, ends early or cannot be fetched is an error,
never a short answer.
"""
