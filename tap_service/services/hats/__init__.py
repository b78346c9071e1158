"""Tables as HATS catalogues: served on the fly."""
