"""What the service does, without HTTP."""
