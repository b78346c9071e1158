"""Simple Cone Search 1.03 for each table with a position, with additions of the working draft of 1.1 (October 2024)."""
