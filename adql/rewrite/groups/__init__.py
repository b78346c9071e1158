"""Passes over grouped queries."""
