"""Shares: results under permanent addresses; requests, access, lifetimes."""
