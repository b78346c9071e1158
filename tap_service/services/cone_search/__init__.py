"""Simple Cone Search 1.03 for each table with a position, and what the working draft of 1.1 (October 2024) adds."""
