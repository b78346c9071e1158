"""Builds the objects of a process from its settings: for the service, the workers, the caretaker and tests.

``storage/engine/engine_choice.py`` and ``storage/store_choice.py`` open engines and stores; what is here connects them.
"""
