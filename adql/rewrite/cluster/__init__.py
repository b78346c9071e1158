"""The last pass, for a cluster, which decides what the shards compute."""
