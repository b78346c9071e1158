"""Translates queries within a time limit: short ones in this process, long ones in a process that can be ended."""
