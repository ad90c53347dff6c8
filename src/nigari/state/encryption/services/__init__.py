"""Key providers backed by a key management service, one module each and independent of each other."""
