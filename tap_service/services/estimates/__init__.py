"""Estimates of rows, bytes and seconds: from the density table, the bound query and measured costs."""
