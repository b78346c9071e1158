"""The history of users' queries."""
