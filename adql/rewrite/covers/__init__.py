"""Passes that select candidates by stored HEALPix indexes and shape covers."""
