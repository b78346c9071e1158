"""Authentication, addresses of clients, availability and capabilities of the service."""
