"""The ``skyhouse`` commands: arguments and exit codes."""
