"""The interface through which a running command reports to its user."""

from __future__ import annotations

from typing import Protocol


class Reporter(Protocol):
    """Reports to the user of a command, and says whether the user has stopped it."""

    def output(self, text: str) -> None:
        """Report a line of the command's result, which programs may read.

        Parameters
        ----------
        text : str
            One line without a line end.
        """

    def message(self, text: str) -> None:
        """Report a message to the user, such as a warning.

        Parameters
        ----------
        text : str
            One sentence or several; warnings start with 'warning: '.
        """

    def progress(self, rows: int, fraction: float) -> None:
        """Report the progress of this run.

        Parameters
        ----------
        rows : int
            Number of rows that are done.
        fraction : float
            The fraction of the input that is done, from 0 to 1.
        """

    def check(self) -> None:
        """Stop the command if its user wants that.

        Raises
        ------
        LoadCancelled
            The user has stopped the command.
        """
