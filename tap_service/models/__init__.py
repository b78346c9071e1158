"""Plain values: jobs, identities, parameters of requests, instants."""
