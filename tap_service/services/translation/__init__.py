"""Translate queries within a time limit: short queries in this process, long queries in processes that can be ended."""
