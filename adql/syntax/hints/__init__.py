"""Hints and fixes for common mistakes in the syntax."""
