"""Cloud identities: credentials, request signatures and endpoints. Requests for stored data are
left to the backends.
"""
