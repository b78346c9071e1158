"""The gateway through which the engine reads the files of attached tables, wherever they lie.

The engine asks for ranges of files by number. What it gets is the file at the version that was attached, or an error:
storage, credentials and repetitions are this service's concern, and nothing but those files can be asked for.
"""
