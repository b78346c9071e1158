"""Passes that plan cross-matches: joins on a bounded separation."""
