"""The backend `cos`: objects of Tencent Cloud's storage."""

from __future__ import annotations

from nigari.backends.backend_spec import AddressArgument, BackendSpec, attributes, store_of
from nigari.schema.block import Block, NestedBlock, Nesting

SPEC: BackendSpec = BackendSpec(
    block=Block(
        attributes(
            strings="acl bucket key prefix region secret_id secret_key security_token",
            flags="accelerate encrypt",
            required="bucket region",
            sensitive="secret_key security_token",
        ),
        {
            "assume_role": NestedBlock(
                Block(
                    attributes(
                        strings="policy role_arn session_name",
                        numbers="session_duration",
                        required="role_arn session_name",
                    )
                ),
                Nesting.SET,
                max_items=1,
            )
        },
    ),
    open=store_of(__name__),
    shown="accelerate acl bucket encrypt key prefix region",
    address=(
        AddressArgument("bucket", is_required=True),
        AddressArgument("prefix", is_required=True),
        AddressArgument("key", default="terraform.tfstate", is_required=True),
    ),
    without_slashes=("key",),
)
