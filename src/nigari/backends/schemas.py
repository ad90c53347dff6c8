"""The schemas of backends: the arguments of the block of each kind, as facts.

All backends that configurations may name are here, so that a wrong argument is found whatever the
backend; which of them can store anything is another matter. The set of arguments must be complete,
since the hash that tells a changed configuration covers those left out, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from nigari.cty.types import BOOL, NUMBER, STRING, ListType, MapType, SetType, Type
from nigari.schema.block import Attribute, Block, NestedAttributes, NestedBlock, Nesting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_LISTS: Final = ListType(STRING)
_SETS: Final = SetType(STRING)
_MAPS: Final = MapType(STRING)


def _attributes(
    types: Mapping[Type, str], required: str = "", sensitive: str = "", deprecated: str = ""
) -> dict[str, Attribute]:
    """Attributes by type, their names with spaces between them."""
    needed, secret, old = (set(names.split()) for names in (required, sensitive, deprecated))
    return {
        name: Attribute(
            type_,
            required=name in needed,
            optional=name not in needed,
            sensitive=name in secret,
            deprecated=name in old,
        )
        for type_, names in types.items()
        for name in names.split()
    }


def _object(attributes: Mapping[str, Attribute]) -> Attribute:
    """An attribute that is an object with attributes of its own."""
    return Attribute(nested=NestedAttributes(attributes, Nesting.SINGLE), optional=True)


_AZURERM: Final = Block(
    _attributes(
        {
            STRING: (
                "access_key ado_service_connection_id client_certificate "
                "client_certificate_password client_certificate_path client_id "
                "client_id_file_path client_secret client_secret_file_path "
                "container_name customer_provided_key encryption_scope endpoint "
                "environment key metadata_host msi_endpoint oidc_request_token "
                "oidc_request_url oidc_token oidc_token_file_path resource_group_name "
                "sas_token storage_account_name subscription_id tenant_id"
            ),
            NUMBER: "timeout_seconds",
            BOOL: ("snapshot use_aks_workload_identity use_azuread_auth use_cli use_msi use_oidc"),
        },
        required="container_name key storage_account_name",
        sensitive="customer_provided_key",
    ),
)

_CLOUD: Final = Block(
    _attributes(
        {
            STRING: "hostname organization token",
        },
    ),
    {
        "workspaces": NestedBlock(
            Block(
                _attributes(
                    {
                        STRING: "name project",
                        _SETS: "tags",
                    },
                )
            ),
            Nesting.SINGLE,
        ),
    },
)

_CONSUL: Final = Block(
    _attributes(
        {
            STRING: (
                "access_token address ca_file cert_file datacenter http_auth key_file path scheme"
            ),
            BOOL: "gzip lock",
        },
        required="path",
    ),
)

_COS: Final = Block(
    _attributes(
        {
            STRING: "acl bucket key prefix region secret_id secret_key security_token",
            BOOL: "accelerate encrypt",
        },
        required="bucket region",
        sensitive="secret_key security_token",
    ),
    {
        "assume_role": NestedBlock(
            Block(
                _attributes(
                    {
                        STRING: "policy role_arn session_name",
                        NUMBER: "session_duration",
                    },
                    required="role_arn session_name",
                )
            ),
            Nesting.SET,
            max_items=1,
        ),
    },
)

_GCS: Final = Block(
    _attributes(
        {
            STRING: (
                "access_token bucket credentials encryption_key "
                "impersonate_service_account kms_encryption_key prefix "
                "storage_custom_endpoint universe_domain"
            ),
            _LISTS: "impersonate_service_account_delegates",
        },
        required="bucket",
    ),
)

_HTTP: Final = Block(
    _attributes(
        {
            STRING: (
                "address client_ca_certificate_pem client_certificate_pem "
                "client_private_key_pem lock_address lock_method password "
                "unlock_address unlock_method update_method username"
            ),
            NUMBER: "retry_max retry_wait_max retry_wait_min",
            BOOL: "skip_cert_verification",
            _MAPS: "headers",
        },
        required="address",
    ),
)

_INMEM: Final = Block(
    _attributes(
        {
            STRING: "lock_id",
        },
    ),
)

_KUBERNETES: Final = Block(
    _attributes(
        {
            STRING: (
                "client_certificate client_key cluster_ca_certificate config_context "
                "config_context_auth_info config_context_cluster config_path host "
                "namespace password secret_suffix token username"
            ),
            BOOL: "in_cluster_config insecure load_config_file",
            _LISTS: "config_paths",
            _MAPS: "labels",
        },
        required="secret_suffix",
    ),
    {
        "exec": NestedBlock(
            Block(
                _attributes(
                    {
                        STRING: "api_version command",
                        _LISTS: "args",
                        _MAPS: "env",
                    },
                    required="api_version command",
                )
            ),
            Nesting.LIST,
            max_items=1,
        ),
    },
)

_LOCAL: Final = Block(
    _attributes(
        {
            STRING: "path workspace_dir",
        },
    ),
)

_OSS: Final = Block(
    _attributes(
        {
            STRING: (
                "access_key acl assume_role_policy assume_role_role_arn "
                "assume_role_session_name bucket ecs_role_name endpoint key prefix "
                "profile region secret_key security_token shared_credentials_file "
                "sts_endpoint tablestore_endpoint tablestore_table"
            ),
            NUMBER: "assume_role_session_expiration",
            BOOL: "encrypt",
        },
        required="bucket",
    ),
    {
        "assume_role": NestedBlock(
            Block(
                _attributes(
                    {
                        STRING: "policy role_arn session_name",
                        NUMBER: "session_expiration",
                    },
                )
            ),
            Nesting.SET,
            max_items=1,
        ),
    },
)

_PG: Final = Block(
    _attributes(
        {
            STRING: "conn_str index_name schema_name table_name",
            BOOL: "skip_index_creation skip_schema_creation skip_table_creation",
        },
    ),
)

_REMOTE: Final = Block(
    _attributes(
        {
            STRING: "hostname organization token",
        },
        required="organization",
    ),
    {
        "workspaces": NestedBlock(
            Block(
                _attributes(
                    {
                        STRING: "name prefix",
                    },
                )
            ),
            Nesting.SINGLE,
        ),
    },
)

_S3: Final = Block(
    {
        **_attributes(
            {
                STRING: (
                    "access_key acl assume_role_policy bucket custom_ca_bundle "
                    "dynamodb_endpoint dynamodb_table ec2_metadata_service_endpoint "
                    "ec2_metadata_service_endpoint_mode endpoint external_id http_proxy "
                    "https_proxy iam_endpoint key kms_key_id no_proxy profile region "
                    "retry_mode role_arn secret_key session_name shared_credentials_file "
                    "sse_customer_key sts_endpoint sts_region token workspace_key_prefix"
                ),
                NUMBER: "assume_role_duration_seconds max_retries",
                BOOL: (
                    "encrypt force_path_style insecure skip_credentials_validation "
                    "skip_metadata_api_check skip_region_validation "
                    "skip_requesting_account_id skip_s3_checksum use_dualstack_endpoint "
                    "use_fips_endpoint use_lockfile use_path_style"
                ),
                _SETS: (
                    "allowed_account_ids assume_role_policy_arns "
                    "assume_role_transitive_tag_keys forbidden_account_ids "
                    "shared_config_files shared_credentials_files"
                ),
                _MAPS: "assume_role_tags lock_tags state_tags",
            },
            required="bucket key",
            sensitive="sse_customer_key",
            deprecated=(
                "assume_role_duration_seconds assume_role_policy "
                "assume_role_policy_arns assume_role_tags "
                "assume_role_transitive_tag_keys dynamodb_endpoint endpoint "
                "external_id force_path_style iam_endpoint role_arn session_name "
                "sts_endpoint"
            ),
        ),
        "assume_role": _object(
            _attributes(
                {
                    STRING: "duration external_id policy role_arn session_name",
                    _SETS: "policy_arns transitive_tag_keys",
                    _MAPS: "tags",
                },
                required="role_arn",
            )
        ),
        "assume_role_with_web_identity": _object(
            _attributes(
                {
                    STRING: (
                        "duration policy role_arn session_name web_identity_token "
                        "web_identity_token_file"
                    ),
                    _SETS: "policy_arns",
                }
            )
        ),
        "endpoints": _object(_attributes({STRING: "dynamodb iam s3 sts"})),
    },
)

OURS: Final[Mapping[str, Block]] = {
    "azurerm": _AZURERM,
    "cloud": _CLOUD,
    "consul": _CONSUL,
    "cos": _COS,
    "gcs": _GCS,
    "http": _HTTP,
    "inmem": _INMEM,
    "kubernetes": _KUBERNETES,
    "local": _LOCAL,
    "oss": _OSS,
    "pg": _PG,
    "remote": _REMOTE,
    "s3": _S3,
}
"""The blocks of the backends that OpenTofu has; `cloud` blocks are among them."""


class _Backends(Mapping[str, Block]):
    """All backends, also those that packages bring. They are looked for where a name is not one of
    ours; a `BackendFailure` says why one that is there cannot be used.
    """

    def __getitem__(self, name: str) -> Block:
        block = OURS.get(name)
        if block is not None:
            return block
        from nigari.backends.installed import installed_backend

        found = installed_backend(name)
        if found is None:
            raise KeyError(name)
        return found.block

    def __iter__(self) -> Iterator[str]:
        from nigari.backends.installed import installed_names

        yield from OURS
        yield from (name for name in installed_names() if name not in OURS)

    def __len__(self) -> int:
        return sum(1 for _ in self)


BACKENDS: Final[Mapping[str, Block]] = _Backends()
"""The block that each kind of backend takes, by its name."""
