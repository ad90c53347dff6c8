"""Nigari evaluates OpenTofu / Terraform configurations, and HCL languages of your own.

Nothing is imported here beyond the version: `import nigari.hcl`, `import nigari.cty` and the other
packages are each a door of their own, and a program pays only for those it opens.
"""

from nigari.version import VERSION

__version__ = VERSION

__all__ = ["__version__"]
