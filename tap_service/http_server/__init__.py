"""The server side of HTTP: the protocol, and the limits of connections."""
