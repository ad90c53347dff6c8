"""AWS: credentials, request signatures, endpoints and signed calls of its services."""
