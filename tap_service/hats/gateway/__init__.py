"""The gateway through which the engine reads the files of attached tables, wherever they are stored.

The engine requests ranges of files by number. It gets the file at the version that was attached, or an error: storage,
credentials and retries are this service's concern, and only those files can be requested.
"""
