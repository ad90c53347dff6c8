"""The backend `s3`: a state per object of a bucket, locked by another object or a table's item."""

from __future__ import annotations

from nigari.backends.backend_spec import (
    AddressArgument,
    ArgumentProblems,
    BackendSpec,
    Environment,
    argument_text,
    attributes,
    nested_object,
    store_of,
)
from nigari.cty.values import Value
from nigari.schema.block import Block

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_OLD_ROLE: Final = (
    "role_arn",
    "session_name",
    "external_id",
    "assume_role_duration_seconds",
    "assume_role_policy",
    "assume_role_policy_arns",
    "assume_role_tags",
    "assume_role_transitive_tag_keys",
)


def _problems(value: Value, environ: Environment) -> ArgumentProblems:
    for name in ("bucket", "key"):
        if not argument_text(value, name):
            yield name, f"The {name} is empty."
    if not (
        argument_text(value, "region")
        or environ.get("AWS_REGION")
        or environ.get("AWS_DEFAULT_REGION")
    ):
        yield "region", "The region is set neither here nor by the environment variable AWS_REGION."
    if not value.attribute("assume_role").is_null:
        for name in _OLD_ROLE:
            if not value.attribute(name).is_null:
                yield name, f"{name} cannot be set together with assume_role: set it there."
    if argument_text(value, "retry_mode") not in ("", "standard", "adaptive"):
        yield "retry_mode", "The retry_mode must be standard or adaptive."


SPEC: BackendSpec = BackendSpec(
    block=Block(
        {
            **attributes(
                strings=(
                    "access_key acl assume_role_policy bucket custom_ca_bundle "
                    "dynamodb_endpoint dynamodb_table ec2_metadata_service_endpoint "
                    "ec2_metadata_service_endpoint_mode endpoint external_id http_proxy "
                    "https_proxy iam_endpoint key kms_key_id no_proxy profile region "
                    "retry_mode role_arn secret_key session_name shared_credentials_file "
                    "sse_customer_key sts_endpoint sts_region token workspace_key_prefix"
                ),
                numbers="assume_role_duration_seconds max_retries",
                flags=(
                    "encrypt force_path_style insecure skip_credentials_validation "
                    "skip_metadata_api_check skip_region_validation "
                    "skip_requesting_account_id skip_s3_checksum use_dualstack_endpoint "
                    "use_fips_endpoint use_lockfile use_path_style"
                ),
                sets=(
                    "allowed_account_ids assume_role_policy_arns "
                    "assume_role_transitive_tag_keys forbidden_account_ids "
                    "shared_config_files shared_credentials_files"
                ),
                maps="assume_role_tags lock_tags state_tags",
                required="bucket key",
                sensitive="sse_customer_key",
                deprecated=(
                    "assume_role_duration_seconds assume_role_policy assume_role_policy_arns "
                    "assume_role_tags assume_role_transitive_tag_keys dynamodb_endpoint endpoint "
                    "external_id force_path_style iam_endpoint role_arn session_name sts_endpoint"
                ),
            ),
            "assume_role": nested_object(
                attributes(
                    strings="duration external_id policy role_arn session_name",
                    sets="policy_arns transitive_tag_keys",
                    maps="tags",
                    required="role_arn",
                )
            ),
            "assume_role_with_web_identity": nested_object(
                attributes(
                    strings=(
                        "duration policy role_arn session_name web_identity_token "
                        "web_identity_token_file"
                    ),
                    sets="policy_arns",
                )
            ),
            "endpoints": nested_object(attributes(strings="dynamodb iam s3 sts")),
        }
    ),
    open=store_of(__name__),
    shown=(
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
    address=(
        AddressArgument("bucket", is_required=True),
        AddressArgument("key", is_required=True),
        AddressArgument("workspace_key_prefix", default="env:"),
        AddressArgument(
            "endpoint",
            variables=("AWS_ENDPOINT_URL_S3", "AWS_S3_ENDPOINT"),
            override=("endpoints", "s3"),
        ),
    ),
    exclusive=(
        ("kms_key_id", "sse_customer_key"),
        ("shared_credentials_file", "shared_credentials_files"),
        ("force_path_style", "use_path_style"),
        ("allowed_account_ids", "forbidden_account_ids"),
    ),
    without_slashes=("key", "workspace_key_prefix"),
    rules=_problems,
)
