"""Identities in Azure, from arguments and environment variables: which cloud, and as whom to ask.

Backends and key providers have the same arguments for this.
"""

from __future__ import annotations

from typing import Final

from nigari.clouds.arguments import Arguments
from nigari.clouds.aws.profiles import text_of
from nigari.clouds.azure import ENVIRONMENTS, AzureEnvironment, AzureIdentity
from nigari.clouds.failures import CloudFailure

IDENTITY_ARGUMENTS: Final = (
    "client_certificate",
    "client_certificate_password",
    "client_certificate_path",
    "client_id",
    "client_id_file_path",
    "client_secret",
    "client_secret_file_path",
    "environment",
    "metadata_host",
    "msi_endpoint",
    "oidc_request_token",
    "oidc_request_url",
    "oidc_token",
    "oidc_token_file_path",
    "subscription_id",
    "tenant_id",
    "use_aks_workload_identity",
    "use_cli",
    "use_msi",
    "use_oidc",
)
"""The arguments that whoever asks Azure has in common."""
_ALIASES: Final = {
    "global": "public",
    "canary": "public",
    "usgovernmentl4": "usgovernment",
    "usgovernmentl5": "usgovernment",
    "dod": "usgovernment",
}


def read_environment(arguments: Arguments) -> AzureEnvironment:
    """The cloud that the arguments name."""
    if arguments.text("metadata_host", "ARM_METADATA_HOST"):
        raise CloudFailure("metadata_host is not supported: set environment instead.")
    wanted = arguments.text("environment", "ARM_ENVIRONMENT", default="public").lower()
    environment = ENVIRONMENTS.get(_ALIASES.get(wanted, wanted))
    if environment is None:
        raise CloudFailure(f'There is no environment "{wanted}" of Azure.')
    return environment


def read_identity(arguments: Arguments) -> AzureIdentity:
    """What the arguments say about who asks."""
    text, flag = arguments.text, arguments.flag
    unsupported = ("client_certificate", "client_certificate_path", "ado_service_connection_id")
    for name in unsupported:
        if text(name, f"ARM_{name.upper()}"):
            raise CloudFailure(
                f"{name} is not supported: use a client secret, OIDC, the identity of the machine, "
                "the Azure CLI or an access_key."
            )
    is_workload = flag("use_aks_workload_identity", "ARM_USE_AKS_WORKLOAD_IDENTITY")
    is_oidc = is_workload or flag("use_oidc", "ARM_USE_OIDC")
    token_file = text(
        "oidc_token_file_path", "ARM_OIDC_TOKEN_FILE_PATH", "AZURE_FEDERATED_TOKEN_FILE"
    )
    url = text("oidc_request_url", "ARM_OIDC_REQUEST_URL", "ACTIONS_ID_TOKEN_REQUEST_URL")
    token = text("oidc_request_token", "ARM_OIDC_REQUEST_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_TOKEN")
    assertion = text("oidc_token", "ARM_OIDC_TOKEN") or (
        text_of(token_file) if is_oidc and token_file else ""
    )
    client_file = text("client_id_file_path", "ARM_CLIENT_ID_FILE_PATH")
    secret_file = text("client_secret_file_path", "ARM_CLIENT_SECRET_FILE_PATH")
    client_id = text("client_id", "ARM_CLIENT_ID") or (text_of(client_file) if client_file else "")
    secret = text("client_secret", "ARM_CLIENT_SECRET") or (
        text_of(secret_file) if secret_file else ""
    )
    return AzureIdentity(
        text("tenant_id", "ARM_TENANT_ID"),
        client_id or (arguments.environ.get("AZURE_CLIENT_ID", "") if is_workload else ""),
        secret,
        assertion if is_oidc else "",
        url if is_oidc else "",
        token if is_oidc else "",
        flag("use_msi", "ARM_USE_MSI"),
        text("msi_endpoint", "ARM_MSI_ENDPOINT"),
        flag("use_cli", "ARM_USE_CLI", default=True),
    )
