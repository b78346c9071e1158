"""Queries: from parameters to a run, with row limits, estimates, stages, spool and log; synchronous requests."""
