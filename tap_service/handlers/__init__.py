"""HTTP handlers: read the parameters, call one service, return its answer."""
