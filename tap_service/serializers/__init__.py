"""Arrow batches in, bytes out, a format in a file."""
