"""What exists and how it is stored: catalogue model, types, DDL, TAP_SCHEMA. Imports no other package of Skyhouse."""
