"""Programs and libraries that run `tofu`, over OpenTofu and over our launcher: `make check-tools`."""
