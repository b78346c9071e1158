"""Passes over the bound query, one file each."""
