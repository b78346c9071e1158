"""Shares: results with permanent links; requests, access, lifetimes."""
