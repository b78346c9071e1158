"""The XML documents of the service: VOSI, TAPRegExt, UWS, DALI examples and errors. Pure functions to bytes."""
