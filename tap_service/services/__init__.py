"""The functions of the service, without HTTP.

Imports point in one direction:
``jobs`` -> ``user_tables`` -> ``queries`` -> ``uploads``, ``catalogue``; ``site`` -> ``queries``.
"""
