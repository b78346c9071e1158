"""Loads files into a published table: plan, chunks, load, append."""
