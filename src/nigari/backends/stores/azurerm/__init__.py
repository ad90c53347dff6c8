"""The backend `azurerm`: a blob of Azure Storage per workspace, locked by a lease."""

from __future__ import annotations

from nigari.backends.backend_spec import AddressArgument, BackendSpec, attributes, store_of
from nigari.schema.block import Block

SPEC: BackendSpec = BackendSpec(
    block=Block(
        attributes(
            strings=(
                "access_key ado_service_connection_id client_certificate "
                "client_certificate_password client_certificate_path client_id "
                "client_id_file_path client_secret client_secret_file_path container_name "
                "customer_provided_key encryption_scope endpoint environment key "
                "metadata_host msi_endpoint oidc_request_token oidc_request_url oidc_token "
                "oidc_token_file_path resource_group_name sas_token storage_account_name "
                "subscription_id tenant_id"
            ),
            numbers="timeout_seconds",
            flags=("snapshot use_aks_workload_identity use_azuread_auth use_cli use_msi use_oidc"),
            required="container_name key storage_account_name",
            sensitive="customer_provided_key",
        )
    ),
    open=store_of(__name__),
    shown=(
        "container_name encryption_scope endpoint environment key metadata_host "
        "resource_group_name snapshot storage_account_name timeout_seconds "
        "use_aks_workload_identity use_azuread_auth use_cli use_msi use_oidc"
    ),
    address=(
        AddressArgument("storage_account_name", is_required=True),
        AddressArgument("container_name", is_required=True),
        AddressArgument("key", is_required=True),
        AddressArgument("environment", variables=("ARM_ENVIRONMENT",), default="public"),
        AddressArgument("endpoint", variables=("ARM_ENDPOINT",)),
    ),
    exclusive=(("metadata_host", "environment"), ("customer_provided_key", "encryption_scope")),
)
