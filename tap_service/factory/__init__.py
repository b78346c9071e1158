"""Builds the objects of a process from its settings: for the service, the workers, the caretaker and tests.

``storage/open_storage.py`` opens engines and stores; this package connects them.
"""
