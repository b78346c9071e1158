"""The last pass, for a cluster: which parts of a query the shards compute."""
