"""DataLink 1.1's {links} for the rows of ObsCore."""
