"""Everything that outlives a request: the engine, records of jobs and other small stores, results, accounts."""
