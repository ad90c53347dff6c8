"""Backend arguments that may be shown: those that are known to hold no secret.

Whatever is not listed is named without its value, since a person may have typed a secret there. So
are all arguments of backends that packages bring. URLs are shown without their credentials.
"""

from __future__ import annotations

from collections.abc import Mapping

from nigari.diagnostics.secret_urls import carries_secret, hidden_urls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from nigari.cty.values import Value

NOT_SHOWN: Final = "(not shown)"

_NAMES: Final[Mapping[str, str]] = {
    "azurerm": (
        "container_name encryption_scope endpoint environment key metadata_host "
        "resource_group_name snapshot storage_account_name timeout_seconds "
        "use_aks_workload_identity use_azuread_auth use_cli use_msi use_oidc"
    ),
    "cloud": "hostname organization workspaces",
    "consul": "address ca_file cert_file datacenter gzip key_file lock path scheme",
    "cos": "accelerate acl bucket encrypt key prefix region",
    "gcs": (
        "bucket impersonate_service_account impersonate_service_account_delegates "
        "kms_encryption_key prefix storage_custom_endpoint universe_domain"
    ),
    "http": (
        "address lock_address lock_method retry_max retry_wait_max retry_wait_min "
        "skip_cert_verification unlock_address unlock_method update_method"
    ),
    "inmem": "lock_id",
    "kubernetes": (
        "config_context config_context_auth_info config_context_cluster config_path config_paths "
        "host in_cluster_config insecure labels load_config_file namespace secret_suffix"
    ),
    "local": "path workspace_dir",
    "oss": (
        "acl bucket ecs_role_name encrypt endpoint key prefix profile region "
        "shared_credentials_file sts_endpoint tablestore_endpoint tablestore_table"
    ),
    "pg": (
        "index_name schema_name skip_index_creation skip_schema_creation skip_table_creation "
        "table_name"
    ),
    "remote": "hostname organization workspaces workspace",
    "s3": (
        "acl allowed_account_ids bucket custom_ca_bundle dynamodb_endpoint dynamodb_table "
        "ec2_metadata_service_endpoint ec2_metadata_service_endpoint_mode encrypt endpoint "
        "endpoints forbidden_account_ids force_path_style http_proxy https_proxy iam_endpoint "
        "insecure key kms_key_id lock_tags max_retries no_proxy profile region retry_mode "
        "role_arn session_name shared_config_files shared_credentials_file "
        "shared_credentials_files skip_credentials_validation skip_metadata_api_check "
        "skip_region_validation skip_requesting_account_id skip_s3_checksum state_tags "
        "sts_endpoint sts_region use_dualstack_endpoint use_fips_endpoint use_lockfile "
        "use_path_style workspace_key_prefix"
    ),
}
"""The arguments and blocks of each backend in `schemas` that may be shown, as a list of names."""
_HARMLESS: Final[Mapping[str, frozenset[str]]] = {
    backend: frozenset(names.split()) for backend, names in _NAMES.items()
}


def is_harmless(backend: str, argument: str) -> bool:
    """Whether the values of an argument, or of those in a block with this name, may be shown."""
    return argument in _HARMLESS.get(backend, ())


def is_harmless_anywhere(argument: str) -> bool:
    """The same where it is not known which backend the argument belongs to."""
    return any(argument in names for names in _HARMLESS.values())


def shown_argument(backend: str, argument: str, text: str) -> str:
    """The text of a value, as far as it may be shown."""
    return hidden_urls(text) if is_harmless(backend, argument) else NOT_SHOWN


def marked(backend: str, name: str, value: Value) -> Value:
    """The value of an argument, sensitive where it may not be shown."""
    from nigari.lang.marks import SENSITIVE
    from nigari.lang.render import value_display

    is_secret = not is_harmless(backend, name) or carries_secret(value_display(value))
    return value.mark(SENSITIVE) if is_secret else value


def without_credentials(data: object) -> object:
    """JSON data, without the secrets of the URLs in it."""
    if isinstance(data, str):
        return hidden_urls(data)
    if isinstance(data, Mapping):
        return {name: without_credentials(each) for name, each in data.items()}
    return [*map(without_credentials, data)] if isinstance(data, list | tuple) else data
