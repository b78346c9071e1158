"""The results of jobs, as bytes, in a directory or an object store."""
