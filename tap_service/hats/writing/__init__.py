"""Writes a table of the engine as a HATS collection: a catalogue, its margin cache and its index.

``plan_catalogue`` counts the rows and chooses the partitions. Each file depends only on the plan and the rows, so that
a file that is written again has the same bytes. ``catalogue_files`` has the list of files.
"""
