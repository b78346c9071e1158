"""The demo's data and schema files: Tycho-2 bright stars and OpenNGC, each with its licence."""
