"""The publishing registry: records of the service and its data, stored in a file, for harvesters (OAI-PMH)."""
