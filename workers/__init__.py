"""Celery workers of the cluster deployment (asynchronous jobs)."""
