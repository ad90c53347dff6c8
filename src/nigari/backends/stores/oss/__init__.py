"""The backend `oss`: objects of Alibaba Cloud's storage. There is no locking."""

from __future__ import annotations

from nigari.backends.backend_spec import AddressArgument, BackendSpec, attributes, store_of
from nigari.schema.block import Block, NestedBlock, Nesting

SPEC: BackendSpec = BackendSpec(
    block=Block(
        attributes(
            strings=(
                "access_key acl assume_role_policy assume_role_role_arn "
                "assume_role_session_name bucket ecs_role_name endpoint key prefix profile "
                "region secret_key security_token shared_credentials_file sts_endpoint "
                "tablestore_endpoint tablestore_table"
            ),
            numbers="assume_role_session_expiration",
            flags="encrypt",
            required="bucket",
        ),
        {
            "assume_role": NestedBlock(
                Block(
                    attributes(strings="policy role_arn session_name", numbers="session_expiration")
                ),
                Nesting.SET,
                max_items=1,
            )
        },
    ),
    open=store_of(__name__),
    shown=(
        "acl bucket ecs_role_name encrypt endpoint key prefix profile region "
        "shared_credentials_file sts_endpoint tablestore_endpoint tablestore_table"
    ),
    address=(
        AddressArgument("bucket", is_required=True),
        AddressArgument("prefix", is_required=True),
        AddressArgument("key", default="terraform.tfstate", is_required=True),
    ),
    without_slashes=("key",),
)
