"""Mirrors: tables whose files, or pieces of rows, are fetched from their origin one by one."""
