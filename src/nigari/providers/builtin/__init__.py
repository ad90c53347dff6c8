"""The built-in provider: `terraform.io/builtin/terraform`."""
