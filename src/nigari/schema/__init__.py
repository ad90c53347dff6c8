"""Provider schemas: the arguments and blocks of providers, resources and data sources."""
