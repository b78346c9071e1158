"""Readers of table files, one module for each format; ``file_formats`` chooses among them."""
