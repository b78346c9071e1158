"""What outlives a request: the engine (``engine/``), jobs (``jobs/``), results (``results/``) and accounts."""
