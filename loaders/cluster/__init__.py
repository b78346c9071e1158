"""Loads into the tables of a cluster: shards, overlaps, verification and rebalancing."""
