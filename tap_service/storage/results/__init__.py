"""The results of jobs, in a directory or an object store."""
