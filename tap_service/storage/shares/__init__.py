"""Shares: results with permanent links."""
