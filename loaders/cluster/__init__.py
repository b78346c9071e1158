"""Tables on a cluster: their shards, overlaps, verification and rebalancing."""
