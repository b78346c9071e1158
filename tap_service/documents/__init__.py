"""The documents of the service in XML, JSON and HTML, written by pure functions."""
