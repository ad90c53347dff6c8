"""AWS: credentials, signatures, endpoints and signed calls of its services."""
