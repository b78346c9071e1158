"""The error for HATS catalogues that cannot be used."""

from __future__ import annotations


class HatsError(ValueError):
    """A HATS catalogue cannot be used. The message names the file, the problem and what was expected."""
