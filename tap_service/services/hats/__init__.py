"""Tables served as HATS collections, whose files are made on request."""
