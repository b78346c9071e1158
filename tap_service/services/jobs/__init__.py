"""Asynchronous jobs: requests, queue, dispatchers, runner, monitor, pieces, reuse, lifetimes."""
