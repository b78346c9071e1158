"""What the service does, without HTTP.

Imports run one way: ``jobs`` -> ``user_tables`` -> ``queries`` -> ``uploads``, ``catalogue``; ``site`` -> ``queries``.
"""
