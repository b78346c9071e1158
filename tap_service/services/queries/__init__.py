"""Queries: from parameters to an execution, with row limits, estimates, stages, spool and log; synchronous requests."""
