"""The publishing registry: records of the service and its data, kept in a file, which harvesters ask for (OAI-PMH)."""
