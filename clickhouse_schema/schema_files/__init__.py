"""Schema files: YAML with Felis' keys to the model and back."""
