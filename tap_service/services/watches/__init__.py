"""Watches: requests of users, the rounds in which watches run, and the messages about their runs."""
