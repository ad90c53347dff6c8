"""Reading trees of Terragrunt: its files become `fleet.hcl` and the files that Terragrunt generates.

`config_file` evaluates one file with the files it includes, `merging` puts them together, `stacks`
generates the units of stacks, `unit_files` writes what Terragrunt generates for a unit, `fleet_text`
writes `fleet.hcl`, and `importing` does it all for a tree. Nothing here runs commands or connects to
clouds: what depends on them is reported with the reason.
"""
