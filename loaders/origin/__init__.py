"""Other servers from which an operator copies tables: the HTTP client, and the descriptions of TAP services."""
