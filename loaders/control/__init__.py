"""Runs commands in this process, or over the control socket in the process that holds the data directory."""
