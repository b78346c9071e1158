"""The ``skyhouse`` commands: their arguments, help texts and exit codes."""
