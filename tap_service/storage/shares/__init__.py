"""Shares: results under permanent addresses."""
