"""The XML documents of the service: VOSI, TAPRegExt, DALI examples, errors.

Pure: what is said comes in, bytes go out.
"""
