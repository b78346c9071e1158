"""Backups of all that the service keeps: tables with their catalogue, users, jobs and results."""
