"""Values that handlers and services exchange."""
