"""Celery workers of a cluster, which execute asynchronous jobs."""
