"""Recipes of published catalogues: names and facts of their origins, no descriptions."""
