"""Tables as HATS catalogues, and HATS catalogues as tables."""
