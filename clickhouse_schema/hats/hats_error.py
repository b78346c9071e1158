"""What is wrong with a HATS catalogue."""

from __future__ import annotations


class HatsError(ValueError):
    """A HATS catalogue that cannot be used. The message names the file, what is wrong and what was expected."""
