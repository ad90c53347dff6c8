"""Provider schemas: what arguments and blocks a provider, resource or data source takes."""
