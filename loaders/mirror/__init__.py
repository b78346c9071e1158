"""Mirrors: tables whose files or pieces are fetched from their origin one by one."""
