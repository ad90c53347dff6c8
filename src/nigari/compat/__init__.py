"""Drop-in replacements for other HCL libraries.

import nigari.compat.hcl2 as hcl2          # python-hcl2
import nigari.compat.pygohcl as pygohcl    # pygohcl

Results equal those of the original library wherever that agrees with the HCL specification;
docs/migration/python-hcl2.md lists the differences. New programs should use `nigari.hcl`.
"""
