"""Which tables exist and how they are stored: catalogue, types, DDL, TAP_SCHEMA. Imports no other Skyhouse package."""
