"""States kept by a service that speaks the API of Terraform Cloud: the backends `remote` and `cloud`.

Only states, locks and workspaces are its business here; runs on the service are refused.
"""
