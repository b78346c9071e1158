"""{links} of DataLink 1.1, for the rows of ObsCore."""
