"""Who we are to a cloud: credentials, signatures, endpoints; not what it is asked for."""
