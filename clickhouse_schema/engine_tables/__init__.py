"""The tables that Skyhouse keeps for itself in the engine: catalogue, density, TAP_SCHEMA, appends, user tables."""
