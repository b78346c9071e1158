"""Watches: requests of users, the rounds in which they run, and the messages about their runs."""
