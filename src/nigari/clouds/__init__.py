"""Identities in clouds: credentials, signatures, endpoints; not what a cloud is asked for."""
