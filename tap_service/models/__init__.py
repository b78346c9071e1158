"""Values that the service reads from requests."""
