"""Users' own tables in ``mydb``: requests, storage, jobs that change them, expiry."""
