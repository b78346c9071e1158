"""Shares: results with permanent links. Requests, access and lifetimes."""
