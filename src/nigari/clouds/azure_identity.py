"""Azure identities and environments from arguments and environment variables.

Backends and key providers share these arguments.
"""

from __future__ import annotations

from typing import Final

from nigari.clouds.arguments import Arguments
from nigari.clouds.aws.profiles import text_of
from nigari.clouds.azure import (
    ENVIRONMENTS,
    AzureEnvironment,
    AzureIdentity,
    ClientCertificate,
)
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
"""Arguments that all users of Azure share."""
_ALIASES: Final = {
    "global": "public",
    "canary": "public",
    "usgovernmentl4": "usgovernment",
    "usgovernmentl5": "usgovernment",
    "dod": "usgovernment",
}
_DEVOPS: Final = "SYSTEM_OIDCREQUESTURI"
_URLS: Final = ("ARM_OIDC_REQUEST_URL", "ACTIONS_ID_TOKEN_REQUEST_URL", _DEVOPS)
_TOKENS: Final = (
    "ARM_OIDC_REQUEST_TOKEN",
    "ACTIONS_ID_TOKEN_REQUEST_TOKEN",
    "SYSTEM_ACCESSTOKEN",
)
_CONNECTIONS: Final = (
    "ARM_ADO_PIPELINE_SERVICE_CONNECTION_ID",
    "ARM_OIDC_AZURE_SERVICE_CONNECTION_ID",
    "AZURESUBSCRIPTION_SERVICE_CONNECTION_ID",
)


def read_environment(arguments: Arguments) -> AzureEnvironment:
    """Return the cloud that the arguments select."""
    host = arguments.text("metadata_host", "ARM_METADATA_HOST")
    if host:
        return AzureEnvironment("", "", "", metadata_host=host)
    wanted = arguments.text("environment", "ARM_ENVIRONMENT", default="public").lower()
    environment = ENVIRONMENTS.get(_ALIASES.get(wanted, wanted))
    if environment is None:
        raise CloudFailure(f'There is no Azure environment "{wanted}".')
    return environment


def read_identity(arguments: Arguments) -> AzureIdentity:
    """Build the identity from the arguments."""
    text, flag = arguments.text, arguments.flag
    is_workload = flag("use_aks_workload_identity", "ARM_USE_AKS_WORKLOAD_IDENTITY")
    is_oidc = is_workload or flag("use_oidc", "ARM_USE_OIDC")
    token_file = text(
        "oidc_token_file_path", "ARM_OIDC_TOKEN_FILE_PATH", "AZURE_FEDERATED_TOKEN_FILE"
    )
    url, token = text("oidc_request_url", *_URLS), text("oidc_request_token", *_TOKENS)
    connection = text("ado_service_connection_id", *_CONNECTIONS)
    # Azure DevOps passes the URL of its token service in the environment.
    url = arguments.environ.get(_DEVOPS, "") if connection else url
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
        connection if is_oidc else "",
        _certificate(arguments),
        flag("use_msi", "ARM_USE_MSI"),
        text("msi_endpoint", "ARM_MSI_ENDPOINT"),
        flag("use_cli", "ARM_USE_CLI", default=True),
    )


def _certificate(arguments: Arguments) -> ClientCertificate | None:
    """Read the client certificate from the argument or a file."""
    text = arguments.text("client_certificate", "ARM_CLIENT_CERTIFICATE")
    path = arguments.text("client_certificate_path", "ARM_CLIENT_CERTIFICATE_PATH")
    if not text and not path:
        return None
    password = arguments.text("client_certificate_password", "ARM_CLIENT_CERTIFICATE_PASSWORD")
    given = _decoded(text) if text else b""
    stored = _content(path) if path else given
    if given and given != stored:
        raise CloudFailure(
            "client_certificate and client_certificate_path are two different certificates: set "
            "only one of them."
        )
    return ClientCertificate(stored, password)


def _decoded(text: str) -> bytes:
    import base64
    import binascii

    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise CloudFailure("The client_certificate must be base64.") from None


def _content(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise CloudFailure(f"The certificate {path} cannot be read: {error.strerror}.") from None
