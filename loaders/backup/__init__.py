"""Backups of everything that the service stores: tables with their catalogue, users, jobs and results."""
