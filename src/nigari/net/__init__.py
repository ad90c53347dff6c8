"""HTTP client for registries, mirrors, module packages, key services and backends."""
