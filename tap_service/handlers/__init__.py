"""HTTP handlers: typed parameters, one service call, return."""
