"""The records of jobs, in SQLite or Redis. ``job_store.py`` defines their phases."""
