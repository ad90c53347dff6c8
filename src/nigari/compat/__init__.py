"""Drop-in modules for programs that were written for other HCL libraries.

    import nigari.compat.hcl2 as hcl2          # python-hcl2
    import nigari.compat.pygohcl as pygohcl    # pygohcl

They give what those libraries give, wherever that agrees with the HCL specification;
docs/migration/python-hcl2.md lists where it does not. New programs use `nigari.hcl`.
"""
