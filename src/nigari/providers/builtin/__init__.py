"""The provider that is part of the program: `terraform.io/builtin/terraform`."""
