"""User tables in the schema ``mydb``: requests, storage, indexes, sharing and expiry."""
